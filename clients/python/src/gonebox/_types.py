"""What the service returns: dictionaries with the names of the API, whose values are also attributes in snake_case."""

from __future__ import annotations

from typing import Any, Optional


class Record(dict):
    """An object of the API. `record.received_at` is `record["receivedAt"]`, `record.from_` is `record["from"]`."""

    def __getattr__(self, name: str) -> Any:
        first, *rest = name.rstrip("_").split("_")
        try:
            return self._wrap(name, self[first + "".join(word.capitalize() for word in rest)])
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no {name}; it has {', '.join(self)}") from None

    def _wrap(self, name: str, value: Any) -> Any:
        kind = {"otp": Otp, "action": Action, "envelope": Envelope, "attachments": Attachment, "authentication": Authentication, "warnings": CheckWarning, "causes": Cause, "lines": TranscriptLine}.get(name, Address)
        if isinstance(value, list):
            return [kind(v) if isinstance(v, dict) else v for v in value]
        return kind(value) if isinstance(value, dict) else value


class Address(Record):
    name: str
    address: str


class Otp(Record):
    """A one-time code: `code` is ready to be typed in, `links` are best first, `confidence` is from 0 to 1.

    `kind` is numeric, alphanumeric or phrase. `source` is builtin, or filter for a code that the filter `filter_id` found.
    """

    code: str
    display: str
    message_id: str
    confidence: float
    kind: str
    links: list[str]
    from_: Address  #: of the message, as subject and received_at
    subject: str
    received_at: str
    source: str
    filter_id: Optional[str]


class Action(Record):
    """The link that a message asks its reader to open. `kind` is verify, sign_in, reset, invite or unlock, `confidence` is from 0 to 1."""

    url: str
    host: str
    kind: str
    confidence: float


class Attachment(Record):
    """A file in a message; not `available` above the size limit of the service."""

    id: str
    filename: str
    content_type: str
    size: int
    sha256: str
    inline: bool
    content_id: Optional[str]  #: by which the HTML refers to it
    available: bool


class Authentication(Record):
    """The verdicts on the sender (RFC 8601). `verified` means that `domain`, that of the only address in From, is proven."""

    spf: str
    dkim: str
    dmarc: str
    verified: bool
    domain: Optional[str]


class Summary(Record):
    """What a list shows of a message. Times are RFC 3339. `verified` means that the domain of the sender is proven."""

    id: str
    mailbox_id: str
    address: str  #: of the mailbox, in lists of an account
    project: Optional[str]  #: whose mailbox it is, in lists of an account
    from_: Address
    to: list[Address]
    subject: str
    preview: str
    received_at: str
    sent_at: Optional[str]
    size: int
    seen: bool
    has_attachments: bool
    otp: Optional[Otp]
    source: str  #: smtp, injected or ingress
    verified: bool
    action: Optional[Action]
    tags: list[str]  #: sorted; absent where the message has none


class Envelope(Record):
    """How a message came: the reverse-path, the forward-paths that led to its mailbox, and the client. `from_` is empty for bounces and injected messages."""

    from_: str
    to: list[str]
    helo: str
    remote_ip: str
    tls: bool


class Message(Summary):
    """A whole message. Its HTML is sanitized by the service. The raw message is available until `raw_expires_at`."""

    envelope: Envelope
    raw_expires_at: str
    cc: list[Address]
    reply_to: list[Address]
    message_id: Optional[str]
    headers: list[Address]
    text: str
    html: Optional[str]
    attachments: list[Attachment]
    links: list[str]
    best_link: Optional[str]
    authentication: Authentication


class CheckWarning(Record):
    """One thing that may go wrong with a message. `clients` do not support the feature that it is about, which `line` of the HTML shows first."""

    code: str
    title: str
    detail: str
    line: Optional[int]
    clients: list[str]
    feature: Optional[str]


class Checks(Record):
    """How a message will fare in mail clients. `score` is from 0 to 100, `clients_as_of` the day of the data about clients."""

    score: float
    clients_as_of: str
    warnings: list[CheckWarning]


class TranscriptLine(Record):
    """A line of an SMTP dialog. `from_` is "client" or "server", `at` an RFC 3339 time."""

    at: str
    from_: str
    text: str


class Transcript(Record):
    """The SMTP dialog of a mail, without credentials and content. `project` is None for the sink; `to` has refused recipients too."""

    at: str
    project: Optional[str]
    from_: str
    to: list[str]
    refused: bool
    lines: list[TranscriptLine]


class Fault(Record):
    """A rule by which the service fails on purpose. `hits` counts its answers; `delay` is in seconds, `created_at` and `ends_at` are RFC 3339 times."""

    id: str
    project: Optional[str]
    from_: Optional[str]
    to: Optional[str]
    stage: str
    reply: Optional[str]
    delay: int
    close: bool
    times: Optional[int]
    every: Optional[int]
    per_minute: Optional[int]
    probability: Optional[float]
    seed: Optional[int]
    hits: int
    created_at: str
    ends_at: Optional[str]


class Cause(Record):
    """One thing that happened instead of what was waited for. `at` is an RFC 3339 time."""

    code: str
    detail: str
    at: str
    address: Optional[str]
    message_id: Optional[str]


class Diagnosis(Record):
    """Why a wait found nothing. `causes` begins with the likeliest."""

    summary: str
    causes: list[Cause]
