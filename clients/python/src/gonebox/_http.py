from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import Any, Optional, Union

from ._types import Diagnosis

__tracebackhide__ = True  # pytest shows the line of the test that failed, and not those of this file

ADVICE = {
    "auth.required": "Pass a key: Gonebox(url, key).",
    "auth.invalid_token": "The key or the mailbox has ended, or the token is of another service.",
    "auth.scope_missing": "Give the key this scope.",
    "mailbox.expired": "Create the mailbox with a longer ttl, or extend it in time.",
    "mailbox.local_part_taken": "The address is in use or was used recently; leave out local_part to get a fresh one.",
    "mailbox.limit_reached": "Destroy mailboxes after each test.",
    "rate.limited": 'Run "gonebox serve --dev" for tests, or raise the limits (docs/testing.md).',
    "inject.disabled": 'Set "inject: on" on the service, or send the message by SMTP.',
}
PATIENCE = 30  # seconds for an answer, beyond what the call itself waits
KEY = re.compile(r"[!-~]+")  # what a header can carry
NOT_READY = (502, 503, 504)  # of a service that is starting or stopping, or of the proxy in front of it


class GoneboxError(Exception):
    """An error of the service or of this client, whose codes begin with `client.` or `wait.`."""

    def __init__(self, code: str, message: str, status: Optional[int] = None, trace_id: Optional[str] = None, retry_after: Optional[float] = None, diagnosis: Optional[Diagnosis] = None):
        super().__init__(message)
        self.code = code
        self.status = status
        self.trace_id = trace_id  #: finds the call in the log of the service
        self.retry_after = retry_after  #: seconds after which to try again
        self.diagnosis = diagnosis  #: of wait.timeout: why nothing was found; None for waits below a second and from older services

    @property
    def _transient(self) -> bool:
        """Whether a call that waits may try again: the service could not be reached, is not ready, or had too many calls."""
        return self.code in ("client.unreachable", "rate.limited") or self.status in NOT_READY

    def _within(self, call: str, waited: float) -> GoneboxError:
        """The same error, whose text begins with the wait that it ended."""
        return GoneboxError(self.code, f"{call} failed after {waited:.1f} s: {self}", self.status, self.trace_id, self.retry_after)


class Http:
    """Sends calls with one credential."""

    def __init__(self, url: str, key: Optional[str] = None):
        if not re.match(r"https?://[^/]", str(url)):
            shown = "a key" if re.search(r"x[a-z]?_", str(url)) else repr(url)  # a key is never shown
            raise GoneboxError("client.invalid_url", f"{shown} is not the URL of a Gonebox: pass one such as http://localhost:8080")
        if key and not (isinstance(key, str) and KEY.fullmatch(key)):
            raise GoneboxError("client.invalid_key", "the key has characters that no key has, such as a line break at its end: pass it as the service showed it")
        self.url = re.sub(r"/api/v1$", "", url.rstrip("/"))
        self.key = key or None
        local = re.match(r"https?://(localhost|127\.|\[::1\]|[^/]*\.localhost\b)", self.url)
        self._open = urllib.request.build_opener(*([urllib.request.ProxyHandler({})] if local else [])).open

    def data(self, method: str, path: str, body: Any = None, type: str = "application/json") -> Any:
        answer = self.parse(method, path, body, type)
        return answer["data"] if answer is not None else None

    def parse(self, method: str, path: str, body: Any = None, type: str = "application/json", timeout: float = PATIENCE) -> Any:
        with self.send(method, path, body, type, timeout=timeout) as answer:
            octets = self._read(answer, f"{method} {_without_query(path)}", timeout)
            if answer.status == 204:
                return None
            try:
                return json.loads(octets)
            except ValueError:
                raise GoneboxError("client.unexpected_answer", f"{self.url} does not answer as Gonebox does: check the URL", answer.status) from None

    def octets(self, path: str) -> bytes:
        with self.send("GET", path) as answer:
            return self._read(answer, f"GET {path}", PATIENCE)

    def send(self, method: str, path: str, body: Any = None, type: str = "application/json", timeout: float = PATIENCE, headers: Union[dict, None] = None) -> Any:
        """Sends a call and returns the answer, or raises what the service says against it."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/api/v1{path}", data, {"Accept": "application/json", **(headers or {})}, method=method)
        if data is not None:
            request.add_header("Content-Type", type)
        if self.key:
            request.add_header("Authorization", "Bearer " + self.key)
        call = f"{method} {_without_query(path)}"
        try:
            return self._open(request, timeout=timeout)
        except urllib.error.HTTPError as error:
            with error:
                raise self._problem(error, call) from None
        except (OSError, HTTPException) as error:
            raise self._unreachable(error, call, timeout) from None

    def _read(self, answer: Any, call: str, timeout: float) -> bytes:
        try:
            return answer.read()
        except (OSError, HTTPException) as error:
            raise self._unreachable(error, call, timeout) from None

    def _unreachable(self, error: Exception, call: str, timeout: float) -> GoneboxError:
        reason = getattr(error, "reason", None) or error
        if isinstance(reason, TimeoutError) or "timed out" in str(reason):  # Python 3.9 has a type of its own for sockets
            return GoneboxError("client.unreachable", f"{self.url} did not answer {call} within {timeout:g} s.")
        return GoneboxError("client.unreachable", f'no Gonebox answers at {self.url} ({call}: {reason}). Start one with "gonebox serve --dev", or correct the URL.')

    def _problem(self, error: urllib.error.HTTPError, call: str) -> GoneboxError:
        try:
            p = json.loads(error.read())
            code = p["code"]
        except (ValueError, KeyError, TypeError, OSError, HTTPException):
            return GoneboxError("client.unexpected_answer", f"{self.url} answered {call} with {error.code}, not as Gonebox does: check the URL", error.code, retry_after=_seconds(error))
        retry_after = _seconds(error)
        parts = [p.get("detail") or p.get("title", "")] + [f"{e['pointer']} {e['message']}" for e in p.get("errors") or []]
        if retry_after:
            parts.append(f"try again in {retry_after:g} s")
        advice = " " + ADVICE[code] if code in ADVICE else ""
        return GoneboxError(code, f"{code}: {'; '.join(parts)} ({call}).{advice}", error.code, p.get("traceId"), retry_after)


def _seconds(error: urllib.error.HTTPError) -> Optional[float]:
    """The seconds of Retry-After, which may be a date too."""
    after = error.headers.get("Retry-After", "")
    return float(after) if after.isdigit() and len(after) < 9 else None


def _without_query(path: str) -> str:
    return path.split("?")[0]
