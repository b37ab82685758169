"""Client of Gonebox, a disposable mailbox service. Times are in seconds."""

from ._aio import AsyncGonebox, AsyncMailbox
from ._client import Gonebox, Mailbox
from ._http import GoneboxError
from ._types import Address, Attachment, Message, Otp, Summary
from .service import Service, start_service

__all__ = [
    "Address", "AsyncGonebox", "AsyncMailbox", "Attachment", "Gonebox", "GoneboxError", "Mailbox", "Message", "Otp",
    "Service", "Summary", "start_service",
]
