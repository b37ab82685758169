from __future__ import annotations

import base64
import math
import time
from datetime import datetime
from typing import Any, Callable, Iterable, Optional, Union
from urllib.parse import quote, urlencode

from ._faults import Faults, refused_mail
from ._http import PATIENCE, GoneboxError, Http
from ._stream import Stream
from ._types import Checks, Message, Record, Summary, Transcript
from ._wait import Wait

__tracebackhide__ = True  # pytest shows the line of the test that failed, and not those of this file

Has = Union[str, Iterable[str], None]
LONGEST_POLL = 25  # seconds: shorter than the idle limit of proxies
FIRST = "msg_00000000000000000000000001"  # sorts before every message


class Gonebox:
    """A Gonebox service. `key` is a developer key (x_…) or user token (xu_…); without one, mailboxes are anonymous.

    `faults` has the rules by which the sink and the projects of the account fail on purpose. Without a key they need `--dev`, as `project` does.
    """

    def __init__(self, url: str, key: Optional[str] = None):
        self._http = Http(url, key)
        self.url = self._http.url
        self.faults = Faults(self._owner)

    def create_mailbox(self, *, domain: Optional[str] = None, local_part: Optional[str] = None, ttl: Optional[float] = None) -> Mailbox:
        """Makes a mailbox. It ends by itself after `ttl` seconds, or with `destroy`."""
        path = "/keys/mailboxes" if (self._http.key or "").startswith("x_") else "/mailboxes"
        data = self._http.data("POST", path, _given(domain=domain, localPart=local_part, ttl=ttl and math.ceil(ttl)))
        if not data.get("token"):
            raise GoneboxError("client.scope_missing", "the key cannot read what it creates: give it the scopes mailboxes:write, messages:read and otp:read")
        return Mailbox(self._http, data)

    def open_mailbox(self, token: str) -> Mailbox:
        """Opens the mailbox that a mailbox token (xm_…) belongs to, or the one at an address of the sink, where it can be waited for the first mail.

        Under `gonebox serve --dev` that is any address that the application under test writes to, otherwise it needs a key of the sink's account.
        """
        local_part, at, domain = token.rpartition("@")
        if at:
            return self.create_mailbox(local_part=local_part, domain=domain)
        return Mailbox(self._http, {**Http(self.url, token).data("GET", "/mailboxes/me"), "token": token})

    def project(self, name: str) -> Project:
        """Opens the project with a name, and creates it if there is none: a mailbox for every address that an application sends to while it is signed in as
        the project over SMTP. Without a key this needs a service on this machine that runs with `--dev`."""
        http, path = self._owner()
        path += "/projects"
        try:
            data = http.data("GET", f"{path}/{quote(name, safe='')}")
        except GoneboxError as error:
            if error.code != "project.not_found":
                raise
            try:
                data = http.data("POST", path, {"name": name})
            except GoneboxError as taken:
                if taken.code != "project.name_taken":
                    raise
                data = http.data("GET", f"{path}/{quote(name, safe='')}")  # another worker was faster
        if not data.get("token"):
            raise GoneboxError("client.scope_missing", "the key cannot read the project: give it the scopes mailboxes:read, mailboxes:write, messages:read and otp:read")
        return Project(self, data)

    def transcripts(self, *, since: Union[datetime, str, None] = None, limit: Optional[int] = None) -> list[Transcript]:
        """Lists the SMTP dialogs of mails for the sink and for projects of which a command was refused, or answered by closing the connection, newest first. The service keeps them for a day."""
        return refused_mail(self._owner, since, limit)

    def _owner(self) -> tuple[Http, str]:
        """What the calls on an account are made with, the key, or without one the account of `--dev`, and the beginning of their paths."""
        http = self._http if self._http.key else Http(self.url, self._http.data("POST", "/auth/local")["token"])
        return http, "/keys" if (http.key or "").startswith("x_") else "/me"

    def messages(self, *, from_: Optional[str] = None, to: Optional[str] = None, subject: Optional[str] = None, has: Has = None, unseen: bool = False, after: Optional[str] = None,
                 q: Optional[str] = None, mailbox: Optional[str] = None, domain: Optional[str] = None, source: Optional[str] = None, limit: Optional[int] = None) -> list[Summary]:
        """Lists the messages of all mailboxes of the account that match, newest first. It needs a key with messages:read, or a user token."""
        return self._account(q=q, mailbox=mailbox, domain=domain, source=source, after=after).messages(from_=from_, to=to, subject=subject, has=has, unseen=unseen, limit=limit)

    def wait_for_code(self, *, from_: Optional[str] = None, to: Optional[str] = None, subject: Optional[str] = None, after: Optional[str] = None, q: Optional[str] = None, timeout: float = 30) -> str:
        """`Mailbox.wait_for_code` for a message in any mailbox of the account: `to` says for which recipient."""
        return self._account(q=q).wait_for_code(from_=from_, to=to, subject=subject, after=after, timeout=timeout)

    def wait_for_link(self, *, from_: Optional[str] = None, to: Optional[str] = None, subject: Optional[str] = None, after: Optional[str] = None, q: Optional[str] = None, timeout: float = 30) -> str:
        """`Mailbox.wait_for_link` for a message in any mailbox of the account."""
        return self._account(q=q).wait_for_link(from_=from_, to=to, subject=subject, after=after, timeout=timeout)

    def wait_for_message(self, *, from_: Optional[str] = None, to: Optional[str] = None, subject: Optional[str] = None, has: Has = None, after: Optional[str] = None, q: Optional[str] = None,
                         timeout: float = 30) -> Message:
        """`Mailbox.wait_for_message` for a message in any mailbox of the account."""
        return self._account(q=q).wait_for_message(from_=from_, to=to, subject=subject, has=has, after=after, timeout=timeout)

    def _account(self, **query: Optional[str]) -> Mailbox:
        """All mailboxes of the account as one that messages are read from."""
        account = Mailbox.__new__(Mailbox)
        account.id, account.address, account._http = "", "the account", self._http
        account._path = "/keys/messages" if (self._http.key or "").startswith("x_") else "/me/messages"
        account._query = _given(**query)
        return account

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Calls any other operation of the API, such as POST /me/webhooks, and returns the `data` of its answer."""
        data = self._http.data(method, path, body)
        return Record(data) if isinstance(data, dict) else data


class Mailbox:
    """A mailbox, as `Gonebox.create_mailbox` returns it. At the end of a `with` block it is destroyed."""

    _path = "/mailboxes/me/messages"
    _query: dict = {}  # what every list asks for

    def __init__(self, http: Http, data: dict):
        self.id: str = data["id"]
        self.address: str = data["address"]
        self._set(http, data)

    def _set(self, http: Http, data: dict) -> None:
        self.token: str = data["token"]
        self.expires_at = datetime.fromisoformat(data["expiresAt"].replace("Z", "+00:00"))
        self._http = Http(http.url, self.token)

    def wait_for_code(self, *, from_: Optional[str] = None, subject: Optional[str] = None, to: Optional[str] = None, after: Optional[str] = None, timeout: float = 30) -> str:
        """Waits for a message with a one-time code and returns the code. A message that is already there counts."""
        return self._found(Wait("wait_for_code", self.address, timeout), from_, to, subject, "code", after)["otp"]["code"]

    def wait_for_link(self, *, from_: Optional[str] = None, subject: Optional[str] = None, to: Optional[str] = None, after: Optional[str] = None, timeout: float = 30) -> str:
        """Waits for a message with a link and returns the link: the one that signs in, confirms or resets, else the first. It is never one that unsubscribes."""
        return self._found_whole(Wait("wait_for_link", self.address, timeout), from_, to, subject, "bestLink", after)["bestLink"]

    def wait_for_message(self, *, from_: Optional[str] = None, subject: Optional[str] = None, to: Optional[str] = None, has: Has = None, after: Optional[str] = None, timeout: float = 30) -> Message:
        """Waits for a message that matches and returns it whole. A message that is already there counts; the newest wins."""
        return self._found_whole(Wait("wait_for_message", self.address, timeout), from_, to, subject, has, after)

    def expect_no_message(self, *, from_: Optional[str] = None, subject: Optional[str] = None, to: Optional[str] = None, has: Has = None, after: Optional[str] = None, timeout: float = 3) -> None:
        """Raises if a message that matches is there or comes within `timeout`. `after` is the id of a message to begin after."""
        m = self._next(Wait("expect_no_message", self.address, timeout), from_, to, subject, has, after)
        if m:
            raise GoneboxError("wait.unexpected_message", f"{self.address} has a message{_describe(from_, to, subject, has)}: {_title(m)}. To ignore earlier ones, pass the id of the last as after.")

    def messages(self, *, from_: Optional[str] = None, subject: Optional[str] = None, to: Optional[str] = None, has: Has = None, unseen: bool = False, limit: Optional[int] = None) -> list[Summary]:
        """Lists the messages that match, newest first."""
        found: list[Summary] = []
        cursor = None
        while limit is None or len(found) < limit:
            page = self._list(from_, to, subject, has, unseen="true" if unseen else None, cursor=cursor, limit=100 if limit is None else min(100, limit - len(found)))
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

    def checks(self, message_id: str) -> Checks:
        """Checks which mail clients lack what the HTML of a message uses, and what its parts and header miss. Nothing is fetched."""
        data = self._http.data("GET", f"/messages/{message_id}/checks")
        absent = {"line": None, "clients": [], "feature": None}
        return Checks({**data, "warnings": [{**absent, **warning} for warning in data["warnings"]]})

    def transcript(self, message_id: str) -> Transcript:
        """Reads the SMTP dialog of a message for the sink or a project. The service keeps it for a day."""
        return Transcript(self._http.data("GET", f"/messages/{message_id}/transcript"))

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
        """Calls `handler` on a thread of its own for each event (message, seen, deleted, tagged, mailbox, end) from now on.

        Interruptions of the connection lose nothing. Returns a function that stops it.
        """
        newest = self._list(None, None, None, None, limit=1)["data"]
        return Stream(lambda: self._http, newest[0]["id"] if newest else FIRST, event, handler).stop

    def __enter__(self) -> Mailbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.destroy()

    def _found(self, wait: Wait, from_: Optional[str], to: Optional[str], subject: Optional[str], has: Has, after: Optional[str]) -> Summary:
        m = self._next(wait, from_, to, subject, has, after)
        if m:
            return m
        raise GoneboxError("wait.timeout", f"no message{_describe(from_, to, subject, has)} came to {self.address} within {wait.timeout:g} s. {self._instead(wait)}", diagnosis=wait.diagnosis)

    def _instead(self, wait: Wait) -> str:
        """What happened instead of what was waited for."""
        if wait.diagnosis:
            return wait.diagnosis.summary
        try:
            others = ", ".join(map(_title, self.messages(limit=5)))
        except GoneboxError as error:
            return f"What it has instead cannot be read: {error}"
        return f"It has other messages: {others}." if others else "The mailbox is empty: check that the application sends to this address and to this service."

    def _found_whole(self, wait: Wait, from_: Optional[str], to: Optional[str], subject: Optional[str], has: Has, after: Optional[str]) -> Message:
        found = self._found(wait, from_, to, subject, has, after)
        return Message(wait.call(lambda limit: self._http.parse("GET", f"/messages/{found.id}", timeout=limit))["data"])

    def _next(self, wait: Wait, from_: Optional[str], to: Optional[str], subject: Optional[str], has: Has, after: Optional[str]) -> Optional[Summary]:
        while True:
            asked = time.monotonic()
            left = wait.left()
            poll = min(LONGEST_POLL, int(left))
            page = wait.call(lambda limit: self._list(from_, to, subject, has, wait=min(poll, int(wait.left())), timeout=limit, after=after, limit=1))
            while not page["data"] and page["nextCursor"]:
                cursor = page["nextCursor"]
                page = wait.call(lambda limit: self._list(from_, to, subject, has, timeout=limit, after=after, limit=1, cursor=cursor))
            wait.learn(page.get("diagnosis"))
            if page["data"] or left == 0:
                return Summary(page["data"][0]) if page["data"] else None
            if poll == 0:
                wait.sleep(left)
            elif time.monotonic() - asked < poll / 2:
                wait.sleep(0.2)  # it did not wait

    def _list(self, from_: Optional[str], to: Optional[str], subject: Optional[str], has: Has, wait: int = 0, timeout: float = PATIENCE, **more: Any) -> dict:
        query = {**self._query, **_given(**{"from": from_}, to=to, subject=subject, has=_names(has), wait=wait or None, **more)}
        return self._http.parse("GET", self._path + "?" + urlencode(query, doseq=True), timeout=timeout)


class Project(Mailbox):
    """A project, as `Gonebox.project` returns it: the calls of a mailbox, whose `to` says which address is meant.

    `smtp` is what the application under test signs in with; its `password` is absent for a project that was there already, and `--dev` takes any.
    `mailpit.url` is the Mailpit API of the project, empty where the service has none. `faults` has the rules by which the service fails on purpose for this
    project alone.
    """

    def __init__(self, gonebox: Gonebox, data: dict):
        super().__init__(gonebox._http, {"id": data["mailboxId"], "address": f"the project {data['name']}", "token": data["token"], "expiresAt": "2100-01-01T00:00:00Z"})
        self.name: str = data["name"]
        self.smtp = Record({"password": None, **data["smtp"]})
        self.mailpit = Record(data["mailpit"])
        self.faults = Faults(gonebox._owner, self.name)
        self._owner, self._project_id = gonebox._owner, data["id"]

    def transcripts(self, *, since: Union[datetime, str, None] = None, limit: Optional[int] = None) -> list[Transcript]:
        """Lists the SMTP dialogs of the project's mails of which a command was refused, or answered by closing the connection, newest first."""
        return refused_mail(self._owner, since, limit, self.name)

    def destroy(self) -> None:
        """Deletes the project with its mail."""
        http, path = self._owner()
        http.data("DELETE", f"/keys/mailboxes/{self.id}" if path == "/keys" else f"/me/projects/{self._project_id}")


def _given(**values: Any) -> dict:
    return {name: value for name, value in values.items() if value is not None}


def _names(has: Has) -> list[str]:
    return [has] if isinstance(has, str) else list(has or [])


def _title(m: Summary) -> str:
    return f'"{m.subject}" from {m.from_.address}'


def _describe(from_: Optional[str], to: Optional[str], subject: Optional[str], has: Has) -> str:
    parts = [f' from "{from_}"' if from_ else "", f' to "{to}"' if to else "", f' with subject "{subject}"' if subject else ""]
    return "".join(parts) + (" with " + " and ".join("link" if name == "bestLink" else name for name in _names(has)) if has else "")
