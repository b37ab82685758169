from __future__ import annotations

import base64
import math
import re
import time
from datetime import datetime
from typing import Any, Callable, Iterable, Optional, Union
from urllib.parse import urlencode

from ._http import GoneboxError, Http
from ._stream import Stream
from ._types import Message, Record, Summary

Has = Union[str, Iterable[str], None]
LONGEST_POLL = 25  # seconds: shorter than the idle limit of proxies
FIRST = "msg_00000000000000000000000001"  # sorts before every message
ACTION = re.compile(r"reset|verif|confirm|activat|token|magic|sign-?in|log-?in|invit|auth|code=", re.I)


class Gonebox:
    """A Gonebox service. `key` is a developer key (x_…) or user token (xu_…); without one, mailboxes are anonymous."""

    def __init__(self, url: str, key: Optional[str] = None):
        self._http = Http(url, key)
        self.url = self._http.url

    def create_mailbox(self, *, domain: Optional[str] = None, local_part: Optional[str] = None, ttl: Optional[float] = None) -> Mailbox:
        """Makes a mailbox. It ends by itself after `ttl` seconds, or with `destroy`."""
        path = "/keys/mailboxes" if (self._http.key or "").startswith("x_") else "/mailboxes"
        data = self._http.data("POST", path, _given(domain=domain, localPart=local_part, ttl=ttl and math.ceil(ttl)))
        if not data.get("token"):
            raise GoneboxError("client.scope_missing", "the key cannot read what it creates: give it the scopes mailboxes:write, messages:read and otp:read")
        return Mailbox(self._http, data)

    def open_mailbox(self, token: str) -> Mailbox:
        """Opens the mailbox that a mailbox token (xm_…) belongs to."""
        return Mailbox(self._http, {**Http(self.url, token).data("GET", "/mailboxes/me"), "token": token})

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Calls any other operation of the API, such as POST /me/webhooks, and returns the `data` of its answer."""
        data = self._http.data(method, path, body)
        return Record(data) if isinstance(data, dict) else data


class Mailbox:
    """A mailbox, as `Gonebox.create_mailbox` returns it. At the end of a `with` block it is destroyed."""

    def __init__(self, http: Http, data: dict):
        self.id: str = data["id"]
        self.address: str = data["address"]
        self._set(http, data)

    def _set(self, http: Http, data: dict) -> None:
        self.token: str = data["token"]
        self.expires_at = datetime.fromisoformat(data["expiresAt"].replace("Z", "+00:00"))
        self._http = Http(http.url, self.token)

    def wait_for_code(self, *, from_: Optional[str] = None, subject: Optional[str] = None, after: Optional[str] = None, timeout: float = 30) -> str:
        """Waits for a message with a one-time code and returns the code. A message that is already there counts."""
        return self._wait(timeout, from_, subject, "code", after)["otp"]["code"]

    def wait_for_link(self, *, from_: Optional[str] = None, subject: Optional[str] = None, after: Optional[str] = None, timeout: float = 30) -> str:
        """Waits for a message with a link and returns the link: the one that signs in, confirms or resets, else the first."""
        m = self.message(self._wait(timeout, from_, subject, "link", after).id)
        best = (m.otp.links if m.otp else []) or [link for link in m.links if ACTION.search(link)]
        return (best or m.links)[0]

    def wait_for_message(self, *, from_: Optional[str] = None, subject: Optional[str] = None, has: Has = None, after: Optional[str] = None, timeout: float = 30) -> Message:
        """Waits for a message that matches and returns it whole. A message that is already there counts; the newest wins."""
        return self.message(self._wait(timeout, from_, subject, has, after).id)

    def expect_no_message(self, *, from_: Optional[str] = None, subject: Optional[str] = None, has: Has = None, after: Optional[str] = None, timeout: float = 3) -> None:
        """Raises if a message that matches is there or comes within `timeout`. `after` is the id of a message to begin after."""
        m = self._next(timeout, from_, subject, has, after)
        if m:
            raise GoneboxError("wait.unexpected_message", f"{self.address} has a message{_describe(from_, subject, has)}: {_title(m)}. To ignore earlier ones, pass the id of the last as after.")

    def messages(self, *, from_: Optional[str] = None, subject: Optional[str] = None, has: Has = None, unseen: bool = False, limit: Optional[int] = None) -> list[Summary]:
        """Lists the messages that match, newest first."""
        found: list[Summary] = []
        cursor = None
        while limit is None or len(found) < limit:
            page = self._list(from_, subject, has, unseen="true" if unseen else None, cursor=cursor, limit=100 if limit is None else min(100, limit - len(found)))
            found += map(Summary, page["data"])
            cursor = page["nextCursor"]
            if not cursor:
                break
        return found

    def message(self, message_id: str) -> Message:
        """Reads a message, which marks it as seen."""
        return Message(self._http.data("GET", f"/messages/{message_id}"))

    def delete_message(self, message_id: str) -> None:
        self._http.data("DELETE", f"/messages/{message_id}")

    def attachment(self, message_id: str, attachment_id: str) -> bytes:
        """Reads the octets of an attachment."""
        return self._http.octets(f"/messages/{message_id}/attachments/{attachment_id}")

    def raw(self, message_id: str) -> bytes:
        """Reads a message as it was received. The service keeps this for a short time only."""
        return self._http.octets(f"/messages/{message_id}/raw")

    def inject(self, raw: Union[bytes, str, None] = None, *, from_: str = "test@gonebox.localhost", subject: Optional[str] = None, text: Optional[str] = None,
               html: Optional[str] = None, attachments: Iterable[dict] = ()) -> Message:
        """Puts a message into the mailbox as if it had been received: its parts, or a whole message of RFC 5322.

        Attachments are dictionaries with filename, content_type and content: octets, or base64 as text.
        """
        if raw is not None:
            return Message(self._http.data("POST", "/mailboxes/me/messages", raw.encode() if isinstance(raw, str) else raw, "message/rfc822"))
        files = []
        for file in attachments:
            content = file["content"]
            content = content if isinstance(content, str) else base64.b64encode(content).decode()
            files.append(_given(filename=file["filename"], contentType=file.get("content_type") or file.get("contentType"), content=content))
        body = _given(subject=subject, text=text, html=html, attachments=files or None)
        return Message(self._http.data("POST", "/mailboxes/me/messages", {"from": from_, **body}))

    def extend(self, *, ttl: Optional[float] = None) -> Mailbox:
        """Lets the mailbox live for `ttl` seconds from now, or for the default time of its plan."""
        data = self._http.data("POST", "/mailboxes/me/extend", _given(ttl=ttl and math.ceil(ttl)))
        self._set(self._http, {"token": self.token, **data})
        return self

    def destroy(self) -> None:
        """Ends the mailbox and erases its messages. Its address is not given to others for some time."""
        self._http.data("DELETE", "/mailboxes/me")

    def on(self, event: str, handler: Callable[[Any], Any]) -> Callable[[], None]:
        """Calls `handler` on a thread of its own for each event (message, seen, deleted, mailbox, end) from now on.

        Interruptions of the connection lose nothing. Returns a function that stops it.
        """
        newest = self._list(None, None, None, limit=1)["data"]
        return Stream(lambda: self._http, newest[0]["id"] if newest else FIRST, event, handler).stop

    def __enter__(self) -> Mailbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.destroy()

    def _wait(self, timeout: float, from_: Optional[str], subject: Optional[str], has: Has, after: Optional[str]) -> Summary:
        m = self._next(timeout, from_, subject, has, after)
        if m:
            return m
        others = ", ".join(map(_title, self.messages(limit=5)))
        there = f"It has other messages: {others}." if others else "The mailbox is empty: check that the application sends to this address and to this service."
        raise GoneboxError("wait.timeout", f"no message{_describe(from_, subject, has)} came to {self.address} within {timeout} s. {there}")

    def _next(self, timeout: float, from_: Optional[str], subject: Optional[str], has: Has, after: Optional[str]) -> Optional[Summary]:
        deadline = time.monotonic() + timeout
        while True:
            asked = time.monotonic()
            left = max(0.0, deadline - asked)
            wait = min(LONGEST_POLL, int(left))
            try:
                page = self._list(from_, subject, has, wait=wait, after=after, limit=1)
                while not page["data"] and page["nextCursor"]:
                    page = self._list(from_, subject, has, after=after, limit=1, cursor=page["nextCursor"])
                if page["data"] or left == 0:
                    return Summary(page["data"][0]) if page["data"] else None
                if wait == 0:
                    time.sleep(left)
                elif time.monotonic() - asked < wait / 2:
                    time.sleep(0.2)  # it did not wait
            except GoneboxError as error:
                if error.code != "rate.limited" or (error.retry_after or 1) > left:
                    raise
                time.sleep(error.retry_after or 1)

    def _list(self, from_: Optional[str], subject: Optional[str], has: Has, wait: int = 0, **more: Any) -> dict:
        query = _given(**{"from": from_}, subject=subject, has=_names(has), wait=wait or None, **more)
        return self._http.parse("GET", "/mailboxes/me/messages?" + urlencode(query, doseq=True), wait=wait)


def _given(**values: Any) -> dict:
    return {name: value for name, value in values.items() if value is not None}


def _names(has: Has) -> list[str]:
    return [has] if isinstance(has, str) else list(has or [])


def _title(m: Summary) -> str:
    return f'"{m.subject}" from {m.from_.address}'


def _describe(from_: Optional[str], subject: Optional[str], has: Has) -> str:
    parts = [f' from "{from_}"' if from_ else "", f' with subject "{subject}"' if subject else ""]
    return "".join(parts) + (" with " + " and ".join(_names(has)) if has else "")
