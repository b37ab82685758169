from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import Any, Optional, Union

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


class GoneboxError(Exception):
    """An error of the service or of this client, whose codes begin with `client.` or `wait.`."""

    def __init__(self, code: str, message: str, status: Optional[int] = None, trace_id: Optional[str] = None, retry_after: Optional[float] = None):
        super().__init__(message)
        self.code = code
        self.status = status
        self.trace_id = trace_id  #: finds the call in the log of the service
        self.retry_after = retry_after  #: seconds after which to try again


class Http:
    """Sends calls with one credential."""

    def __init__(self, url: str, key: Optional[str] = None):
        if not re.match(r"https?://[^/]", str(url)):
            raise GoneboxError("client.invalid_url", f"{url!r} is not the URL of a Gonebox: pass one such as http://localhost:8080")
        self.url = re.sub(r"/api/v1$", "", url.rstrip("/"))
        self.key = key or None
        local = re.match(r"https?://(localhost|127\.|\[::1\]|[^/]*\.localhost\b)", self.url)
        self._open = urllib.request.build_opener(*([urllib.request.ProxyHandler({})] if local else [])).open

    def data(self, method: str, path: str, body: Any = None, type: str = "application/json") -> Any:
        answer = self.parse(method, path, body, type)
        return answer["data"] if answer is not None else None

    def parse(self, method: str, path: str, body: Any = None, type: str = "application/json", wait: int = 0) -> Any:
        with self.send(method, path, body, type, timeout=wait + PATIENCE) as answer:
            octets = self._read(answer)
            if answer.status == 204:
                return None
            try:
                return json.loads(octets)
            except ValueError:
                raise GoneboxError("client.unexpected_answer", f"{self.url} does not answer as Gonebox does: check the URL", answer.status) from None

    def octets(self, path: str) -> bytes:
        with self.send("GET", path) as answer:
            return self._read(answer)

    def send(self, method: str, path: str, body: Any = None, type: str = "application/json", timeout: float = PATIENCE, headers: Union[dict, None] = None) -> Any:
        """Sends a call and returns the answer, or raises what the service says against it."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/api/v1{path}", data, {"Accept": "application/json", **(headers or {})}, method=method)
        if data is not None:
            request.add_header("Content-Type", type)
        if self.key:
            request.add_header("Authorization", "Bearer " + self.key)
        try:
            return self._open(request, timeout=timeout)
        except urllib.error.HTTPError as error:
            with error:
                raise self._problem(error, f"{method} {path.split('?')[0]}") from None
        except (OSError, HTTPException) as error:
            raise self._unreachable(error) from error

    def _read(self, answer: Any) -> bytes:
        try:
            return answer.read()
        except (OSError, HTTPException) as error:
            raise self._unreachable(error) from error

    def _unreachable(self, error: Exception) -> GoneboxError:
        reason = getattr(error, "reason", None) or error
        return GoneboxError("client.unreachable", f'no Gonebox answers at {self.url} ({reason}). Start one with "gonebox serve --dev", or correct the URL.')

    def _problem(self, error: urllib.error.HTTPError, call: str) -> GoneboxError:
        try:
            p = json.loads(error.read())
            code = p["code"]
        except (ValueError, KeyError, TypeError, OSError):
            return GoneboxError("client.unexpected_answer", f"{self.url} answered {call} with {error.code}, not as Gonebox does: check the URL", error.code)
        after = error.headers.get("Retry-After", "")
        retry_after = float(after) if after.isdigit() else None
        parts = [p.get("detail") or p.get("title", "")] + [f"{e['pointer']} {e['message']}" for e in p.get("errors") or []]
        if retry_after:
            parts.append(f"try again in {after} s")
        advice = " " + ADVICE[code] if code in ADVICE else ""
        return GoneboxError(code, f"{code}: {'; '.join(parts)} ({call}).{advice}", error.code, p.get("traceId"), retry_after)
