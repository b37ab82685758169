"""A Gonebox of its own for a test run, from the binary."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from typing import Callable

from ._http import GoneboxError


@dataclass
class Service:
    """A running service. `smtp` is HOST:PORT for the mail of the application under test: any address, user and password."""

    url: str
    smtp: str
    stop: Callable[[], None]


def start_service() -> Service:
    """Returns the service that GONEBOX_URL names, or starts `gonebox serve --dev` on free ports with a temporary data folder.

    The binary is the one that GONEBOX_BINARY names, else `gonebox` on the PATH.
    """
    if os.environ.get("GONEBOX_URL"):
        return Service(os.environ["GONEBOX_URL"], os.environ.get("GONEBOX_SMTP", ""), lambda: None)
    http, smtp = _free_addresses()
    url, data = f"http://{http}", tempfile.mkdtemp(prefix="gonebox-")
    binary = os.environ.get("GONEBOX_BINARY") or "gonebox"
    command = [binary, "serve", "--dev", "--data-dir", data, "--http-addr", http, "--smtp-addr", smtp, "--set", f"base_url={url}", "--set", "compat.mailpit.addr="]
    log = open(os.path.join(data, "output"), "w+")
    try:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    except OSError as error:
        log.close()
        shutil.rmtree(data, ignore_errors=True)
        raise GoneboxError("client.start_failed", f"cannot start {binary}: {error}. Put gonebox on the PATH, or set GONEBOX_BINARY to it, or GONEBOX_URL to a running service.") from None

    def stop() -> None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        log.close()
        shutil.rmtree(data, ignore_errors=True)

    deadline = time.monotonic() + 60
    while not _ready(url):
        if process.poll() is not None or time.monotonic() > deadline:
            log.seek(0)
            output = log.read()[-4000:]
            stop()
            raise GoneboxError("client.start_failed", f"{binary} did not start: {output}")
        time.sleep(0.05)
    return Service(url, smtp, stop)


def _ready(url: str) -> bool:
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url + "/readyz", timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


def _free_addresses() -> tuple[str, str]:
    with socket.socket() as one, socket.socket() as two:
        one.bind(("127.0.0.1", 0))
        two.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{one.getsockname()[1]}", f"127.0.0.1:{two.getsockname()[1]}"
