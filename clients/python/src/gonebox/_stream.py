from __future__ import annotations

import json
import threading
from typing import Any, Callable

from ._http import GoneboxError, Http

SILENCE = 45  # seconds: three comment lines that did not come
SLOWEST_RETRY = 10


class Stream:
    """The events of a mailbox: Server-Sent Events, resumed after each interruption."""

    def __init__(self, http: Callable[[], Http], last: str, event: str, handler: Callable[[Any], Any]):
        self._http, self._last, self._event, self._handler = http, last, event, handler
        self._over = threading.Event()
        threading.Thread(target=self._run, name="gonebox-events", daemon=True).start()

    def stop(self) -> None:
        """Stops calling the handler."""
        self._over.set()

    def _run(self) -> None:
        delay = 0.25
        while not self._over.is_set():
            try:
                headers = {"Accept": "text/event-stream", "Last-Event-ID": self._last}
                with self._http().send("GET", "/mailboxes/me/events", timeout=SILENCE, headers=headers) as answer:
                    delay = 0.25
                    self._read(answer)
            except GoneboxError as error:
                if 400 <= (error.status or 0) < 500 and error.status != 429:
                    return  # the mailbox or its token has ended
            except (OSError, ValueError):
                pass  # the connection was interrupted
            self._over.wait(delay)
            delay = min(2 * delay, SLOWEST_RETRY)

    def _read(self, answer: Any) -> None:
        event, data = "message", []
        for line in answer:
            if self._over.is_set():
                return
            field, _, value = line.decode().rstrip("\r\n").partition(":")
            value = value[1:] if value.startswith(" ") else value
            if field == "event":
                event = value
            elif field == "data":
                data.append(value)
            elif field == "id":
                self._last = value
            elif not field and not _ and data:
                self._emit(event, "\n".join(data))
                event, data = "message", []

    def _emit(self, event: str, text: str) -> None:
        from ._types import Summary

        data = Summary(json.loads(text))
        end = event == "end" and data.get("reason") != "shutdown"
        if end:
            self._over.set()
        if event == self._event and (event != "end" or end):
            self._handler(data)
