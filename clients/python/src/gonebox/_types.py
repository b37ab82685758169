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
        kind = {"otp": Otp, "attachments": Attachment}.get(name, Address)
        if isinstance(value, list):
            return [kind(v) if isinstance(v, dict) else v for v in value]
        return kind(value) if isinstance(value, dict) else value


class Address(Record):
    name: str
    address: str


class Otp(Record):
    """A one-time code: `code` is ready to be typed in, `links` are best first, `confidence` is from 0 to 1."""

    code: str
    display: str
    message_id: str
    confidence: float
    kind: str
    links: list[str]


class Attachment(Record):
    """A file in a message; not `available` above the size limit of the service."""

    id: str
    filename: str
    content_type: str
    size: int
    sha256: str
    inline: bool
    available: bool


class Summary(Record):
    """What a list shows of a message. Times are RFC 3339."""

    id: str
    mailbox_id: str
    from_: Address
    to: list[Address]
    subject: str
    preview: str
    received_at: str
    size: int
    seen: bool
    has_attachments: bool
    otp: Optional[Otp]


class Message(Summary):
    """A whole message. Its HTML is sanitized by the service."""

    cc: list[Address]
    headers: list[Address]
    text: str
    html: Optional[str]
    attachments: list[Attachment]
    links: list[str]
