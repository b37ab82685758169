"""The same with async methods, each of which runs on a thread: urllib has no other way to wait."""

from __future__ import annotations

import asyncio
import functools
import inspect
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Optional

from ._client import Gonebox, Has, Mailbox
from ._types import Message, Summary

MOST_CALLS = 256  # at once, of one AsyncGonebox


class _Async:
    def __init__(self, sync: Any, pool: ThreadPoolExecutor):
        self._sync, self._pool = sync, pool

    async def _run(self, name: str, *args: Any, **kwargs: Any) -> Any:
        call = functools.partial(getattr(self._sync, name), *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)


class AsyncGonebox(_Async):
    """A Gonebox service; see `Gonebox`."""

    def __init__(self, url: str, key: Optional[str] = None):
        super().__init__(Gonebox(url, key), ThreadPoolExecutor(MOST_CALLS, "gonebox"))
        self.url: str = self._sync.url

    async def create_mailbox(self, *, domain: Optional[str] = None, local_part: Optional[str] = None, ttl: Optional[float] = None) -> AsyncMailbox:
        return AsyncMailbox(await self._run("create_mailbox", domain=domain, local_part=local_part, ttl=ttl), self._pool)

    async def open_mailbox(self, token: str) -> AsyncMailbox:
        return AsyncMailbox(await self._run("open_mailbox", token), self._pool)

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        return await self._run("request", method, path, body)


class AsyncMailbox(_Async):
    """A mailbox; see `Mailbox`. Its methods take the same arguments."""

    _sync: Mailbox
    id = property(lambda self: self._sync.id)
    address = property(lambda self: self._sync.address)
    token = property(lambda self: self._sync.token)
    expires_at = property(lambda self: self._sync.expires_at)

    async def wait_for_code(self, *, from_: Optional[str] = None, subject: Optional[str] = None, after: Optional[str] = None, timeout: float = 30) -> str:
        return await self._run("wait_for_code", from_=from_, subject=subject, after=after, timeout=timeout)

    async def wait_for_link(self, *, from_: Optional[str] = None, subject: Optional[str] = None, after: Optional[str] = None, timeout: float = 30) -> str:
        return await self._run("wait_for_link", from_=from_, subject=subject, after=after, timeout=timeout)

    async def wait_for_message(self, *, from_: Optional[str] = None, subject: Optional[str] = None, has: Has = None, after: Optional[str] = None, timeout: float = 30) -> Message:
        return await self._run("wait_for_message", from_=from_, subject=subject, has=has, after=after, timeout=timeout)

    async def expect_no_message(self, *, from_: Optional[str] = None, subject: Optional[str] = None, has: Has = None, after: Optional[str] = None, timeout: float = 3) -> None:
        await self._run("expect_no_message", from_=from_, subject=subject, has=has, after=after, timeout=timeout)

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
