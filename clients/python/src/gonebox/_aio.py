"""The same with async methods, each of which runs on a thread: urllib has no other way to wait."""

from __future__ import annotations

import asyncio
import inspect
import queue
import threading
from typing import Any, Callable, List, Optional

from ._client import Gonebox, Has, Mailbox, Project
from ._types import Checks, Fault, Message, Summary, Transcript
from ._wait import cancelled

__tracebackhide__ = True  # pytest shows the line of the test that failed, and not those of this file

MOST_CALLS = 256  # at once, of one AsyncGonebox


class _Pool:
    """Runs calls on daemon threads, which unlike those of concurrent.futures do not keep the program alive."""

    def __init__(self, most: int):
        self._most, self._threads = most, 0
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)  # one for each thread that waits for a call
        self._lock = threading.Lock()

    def submit(self, call: Callable[[], None]) -> None:
        self._calls.put(call)
        with self._lock:
            if self._idle.acquire(blocking=False) or self._threads == self._most:
                return
            self._threads += 1
        threading.Thread(target=self._work, name="gonebox", daemon=True).start()

    def _work(self) -> None:
        while True:
            try:
                call = self._calls.get_nowait()
            except queue.Empty:
                self._idle.release()
                call = self._calls.get()
            call()


class _Async:
    def __init__(self, sync: Any, pool: _Pool):
        self._sync, self._pool = sync, pool

    async def _run(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Runs a method on a thread. A wait whose task is cancelled makes no further call."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        stop = threading.Event()

        def finish(result: Any, error: Optional[BaseException]) -> None:
            if future.done():
                return  # it was cancelled
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error.with_traceback(None))  # the frames of the thread say nothing

        def work() -> None:
            if stop.is_set():
                return
            cancelled.set(stop)
            result, failure = None, None
            try:
                result = getattr(self._sync, name)(*args, **kwargs)
            except BaseException as error:
                failure = error
            try:
                loop.call_soon_threadsafe(finish, result, failure)
            except RuntimeError:
                pass  # the loop is closed

        self._pool.submit(work)
        try:
            return await future
        finally:
            stop.set()


class AsyncGonebox(_Async):
    """A Gonebox service; see `Gonebox`."""

    def __init__(self, url: str, key: Optional[str] = None):
        super().__init__(Gonebox(url, key), _Pool(MOST_CALLS))
        self.url: str = self._sync.url
        self.faults = AsyncFaults(self._sync.faults, self._pool)

    async def create_mailbox(self, *, domain: Optional[str] = None, local_part: Optional[str] = None, ttl: Optional[float] = None) -> AsyncMailbox:
        return AsyncMailbox(await self._run("create_mailbox", domain=domain, local_part=local_part, ttl=ttl), self._pool)

    async def open_mailbox(self, token: str) -> AsyncMailbox:
        return AsyncMailbox(await self._run("open_mailbox", token), self._pool)

    async def project(self, name: str) -> AsyncProject:
        """See `Gonebox.project`. `name`, `smtp` and `mailpit` are those of the project."""
        return AsyncProject(await self._run("project", name), self._pool)

    async def messages(self, **filter: Any) -> list[Summary]:
        return await self._run("messages", **filter)

    async def wait_for_code(self, **options: Any) -> str:
        return await self._run("wait_for_code", **options)

    async def wait_for_link(self, **options: Any) -> str:
        return await self._run("wait_for_link", **options)

    async def wait_for_message(self, **options: Any) -> Message:
        return await self._run("wait_for_message", **options)

    async def transcripts(self, **filter: Any) -> list[Transcript]:
        return await self._run("transcripts", **filter)

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        return await self._run("request", method, path, body)


class AsyncFaults(_Async):
    """The rules by which the service fails on purpose; see `Faults`. Its methods take the same arguments."""

    async def list(self) -> List[Fault]:
        return await self._run("list")

    async def add(self, stage: str, **rule: Any) -> Fault:
        return await self._run("add", stage, **rule)

    async def delete(self, fault_id: Optional[str] = None) -> None:
        await self._run("delete", fault_id)


class AsyncMailbox(_Async):
    """A mailbox; see `Mailbox`. Its methods take the same arguments."""

    _sync: Mailbox
    id = property(lambda self: self._sync.id)
    address = property(lambda self: self._sync.address)
    token = property(lambda self: self._sync.token)
    expires_at = property(lambda self: self._sync.expires_at)

    async def wait_for_code(self, *, from_: Optional[str] = None, subject: Optional[str] = None, to: Optional[str] = None, after: Optional[str] = None, timeout: float = 30) -> str:
        return await self._run("wait_for_code", from_=from_, to=to, subject=subject, after=after, timeout=timeout)

    async def wait_for_link(self, *, from_: Optional[str] = None, subject: Optional[str] = None, to: Optional[str] = None, after: Optional[str] = None, timeout: float = 30) -> str:
        return await self._run("wait_for_link", from_=from_, to=to, subject=subject, after=after, timeout=timeout)

    async def wait_for_message(self, *, from_: Optional[str] = None, subject: Optional[str] = None, to: Optional[str] = None, has: Has = None, after: Optional[str] = None, timeout: float = 30) -> Message:
        return await self._run("wait_for_message", from_=from_, to=to, subject=subject, has=has, after=after, timeout=timeout)

    async def expect_no_message(self, *, from_: Optional[str] = None, subject: Optional[str] = None, to: Optional[str] = None, has: Has = None, after: Optional[str] = None, timeout: float = 3) -> None:
        await self._run("expect_no_message", from_=from_, to=to, subject=subject, has=has, after=after, timeout=timeout)

    async def messages(self, **filter: Any) -> list[Summary]:
        return await self._run("messages", **filter)

    async def message(self, message_id: str) -> Message:
        return await self._run("message", message_id)

    async def delete_message(self, message_id: str) -> None:
        await self._run("delete_message", message_id)

    async def attachment(self, message_id: str, attachment_id: str) -> bytes:
        return await self._run("attachment", message_id, attachment_id)

    async def raw(self, message_id: str) -> bytes:
        return await self._run("raw", message_id)

    async def checks(self, message_id: str) -> Checks:
        return await self._run("checks", message_id)

    async def transcript(self, message_id: str) -> Transcript:
        return await self._run("transcript", message_id)

    async def inject(self, *raw: Any, **parts: Any) -> Message:
        return await self._run("inject", *raw, **parts)

    async def extend(self, *, ttl: Optional[float] = None) -> AsyncMailbox:
        await self._run("extend", ttl=ttl)
        return self

    async def destroy(self) -> None:
        await self._run("destroy")

    async def on(self, event: str, handler: Callable[[Any], Any]) -> Callable[[], None]:
        """Calls `handler`, a function or a coroutine function, in the running event loop. Returns a function that stops it."""
        loop = asyncio.get_running_loop()

        def deliver(data: Any) -> None:
            if inspect.iscoroutinefunction(handler):
                asyncio.run_coroutine_threadsafe(handler(data), loop)
            else:
                loop.call_soon_threadsafe(handler, data)

        return await self._run("on", event, deliver)

    async def __aenter__(self) -> AsyncMailbox:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.destroy()


class AsyncProject(AsyncMailbox):
    """A project; see `Project`. Its methods take the same arguments."""

    _sync: Project
    name = property(lambda self: self._sync.name)
    smtp = property(lambda self: self._sync.smtp)
    mailpit = property(lambda self: self._sync.mailpit)

    def __init__(self, sync: Project, pool: _Pool):
        super().__init__(sync, pool)
        self.faults = AsyncFaults(sync.faults, pool)

    async def transcripts(self, **filter: Any) -> list[Transcript]:
        return await self._run("transcripts", **filter)
