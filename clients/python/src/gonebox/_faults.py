from __future__ import annotations

import math
from datetime import datetime, timezone
from typing import Callable, List, Optional, Union
from urllib.parse import quote, urlencode

from ._http import GoneboxError, Http
from ._types import Fault, Transcript

__tracebackhide__ = True  # pytest shows the line of the test that failed, and not those of this file

Owner = Callable[[], "tuple[Http, str]"]  # what calls on an account are made with, and the beginning of their paths: /me or /keys


class Faults:
    """The rules by which the sink and the projects of an account fail on purpose, or those of one of its projects."""

    def __init__(self, owner: Owner, project: Optional[str] = None):
        self._owner, self._project = owner, project

    def list(self) -> List[Fault]:
        """Lists the rules in the order in which they are tried."""
        http, path = self._owner()
        return [Fault(rule) for rule in http.data("GET", f"{path}/faults") if self._project in (None, rule["project"])]

    def add(self, stage: str, *, reply: Optional[str] = None, delay: Optional[float] = None, close: bool = False, from_: Optional[str] = None, to: Optional[str] = None,
            times: Optional[int] = None, every: Optional[int] = None, per_minute: Optional[int] = None, probability: Optional[float] = None, seed: Optional[int] = None,
            for_: Optional[float] = None, project: Optional[str] = None) -> Fault:
        """Adds a rule behind those that are there. It needs `reply`, `delay` or `close`.

        `stage` is the command that is answered: "auth" (the credentials), "mail", "rcpt", "data" (DATA itself) or "message" (the content). `reply` is a code of 400 to 559, perhaps an
        enhanced status code, and a text. `from_` and `to` are patterns, in which * stands for any characters. `times` is how often the rule answers, `every` lets
        it answer the nth, the 2nth and so on, `per_minute` lets so many pass. The same `seed` and mails result in the same replies. After `for_` seconds the rule
        is deleted. Those of a project concern its mail alone; others name one as `project`, or concern the sink and every project of the account.
        """
        body = {
            "stage": stage, "reply": reply, "delay": delay and math.ceil(delay), "close": close or None, "from": from_, "to": to, "times": times, "every": every,
            "perMinute": per_minute, "probability": probability, "seed": seed, "for": None if for_ is None else math.ceil(for_), "project": self._project or project,
        }
        http, path = self._owner()
        return Fault(http.data("POST", f"{path}/faults", {name: value for name, value in body.items() if value is not None}))

    def delete(self, fault_id: Optional[str] = None) -> None:
        """Deletes the rule with an id; without one all of them, after which greylists have forgotten their tries too, unless they are those of a project."""
        http, path = self._owner()
        if fault_id is not None:
            http.data("DELETE", f"{path}/faults/{quote(fault_id, safe='')}")
        elif self._project is None:
            http.data("DELETE", f"{path}/faults")
        else:
            for rule in self.list():
                try:
                    http.data("DELETE", f"{path}/faults/{rule.id}")
                except GoneboxError as error:
                    if error.code != "fault.not_found":  # rules that the Mailpit API has set end together
                        raise


def refused_mail(owner: Owner, since: Union[datetime, str, None], limit: Optional[int], project: Optional[str] = None) -> list[Transcript]:
    """Reads the transcripts of refused mails, newest first; with the name of a project those of its mail alone."""
    http, path = owner()
    query = {"limit": "100"}
    if since is not None:
        query["since"] = since.astimezone(timezone.utc).isoformat() if isinstance(since, datetime) else since
    found: list[Transcript] = []
    while limit is None or len(found) < limit:
        page = http.parse("GET", f"{path}/transcripts?{urlencode(query)}")
        found += [Transcript(one) for one in page["data"] if project in (None, one["project"])]
        if not page["nextCursor"]:
            break
        query["cursor"] = page["nextCursor"]
    return found[:limit]
