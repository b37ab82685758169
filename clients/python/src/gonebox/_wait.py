from __future__ import annotations

import threading
import time
from contextvars import ContextVar
from typing import Callable, Optional, TypeVar

from ._http import PATIENCE, GoneboxError
from ._types import Diagnosis

__tracebackhide__ = True  # pytest shows the line of the test that failed, and not those of this file

T = TypeVar("T")
GRACE = 5  # seconds that an answer may be late at the end of a wait
FIRST_RETRY, SLOWEST_RETRY = 0.25, 2  # seconds

#: Set while a call of AsyncGonebox runs on a thread; the event tells that it was cancelled.
cancelled: ContextVar[Optional[threading.Event]] = ContextVar("cancelled", default=None)


class Cancelled(BaseException):
    """Ends the thread of a call that was cancelled. It reaches no caller."""


class Wait:
    """A wait of a mailbox: the time that it has left, and calls that are made again while it has some."""

    def __init__(self, name: str, address: str, timeout: float):
        self.timeout = timeout
        self.diagnosis: Optional[Diagnosis] = None  #: why the calls of the wait found nothing, as far as they said so
        self._name = f"{name} ({address})"
        self._began = time.monotonic()

    def left(self) -> float:
        """The seconds that are left."""
        return max(0.0, self._began + self.timeout - time.monotonic())

    def learn(self, diagnosis: Optional[dict]) -> None:
        """Takes over what a call found out, unless an earlier one knows more: each looks at its own time."""
        if diagnosis and not (self.diagnosis and diagnosis["causes"][0]["code"] == "nothing_arrived"):
            self.diagnosis = Diagnosis(diagnosis)

    def call(self, send: Callable[[float], T]) -> T:
        """Calls `send` with the seconds that an answer may take, until it does not fail because of the connection or with 503.

        A service that restarts refuses connections for a moment and resets those that it has.
        """
        delay = FIRST_RETRY
        while True:
            self._check()
            left = self.left()
            try:
                return send(min(PATIENCE, left) + GRACE)
            except GoneboxError as error:
                after = error.retry_after or delay
                if not error._transient or left == 0 or (error.retry_after or 0) > left:
                    raise error._within(self._name, time.monotonic() - self._began) from None
            self.sleep(min(after, self.left()))
            delay = min(2 * delay, SLOWEST_RETRY)

    def sleep(self, seconds: float) -> None:
        event = cancelled.get()
        if event:
            event.wait(seconds)
        else:
            time.sleep(seconds)

    def _check(self) -> None:
        event = cancelled.get()
        if event and event.is_set():
            raise Cancelled
