"""Client of Gonebox, a disposable mailbox service. Times are in seconds."""

from ._aio import AsyncFaults, AsyncGonebox, AsyncMailbox, AsyncProject
from ._client import Gonebox, Mailbox, Project
from ._faults import Faults
from ._http import GoneboxError
from ._types import Action, Address, Attachment, Authentication, Cause, Checks, CheckWarning, Diagnosis, Envelope, Fault, Message, Otp, Summary, Transcript, TranscriptLine
from .service import Service, start_service

__all__ = [
    "Action", "Address", "AsyncFaults", "AsyncGonebox", "AsyncMailbox", "AsyncProject", "Attachment", "Authentication", "Cause", "Checks", "CheckWarning", "Diagnosis", "Envelope", "Fault", "Faults", "Gonebox",
    "GoneboxError", "Mailbox", "Message", "Otp", "Project", "Service", "Summary", "Transcript", "TranscriptLine", "start_service",
]
