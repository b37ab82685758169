"""A Gonebox of its own for a test run, from the binary."""

from __future__ import annotations

import atexit
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

__tracebackhide__ = True  # pytest shows the line of the test that failed, and not those of this file


TRIES = 5  # times that a service is started at most, each time on other ports, where another process took those that were free


@dataclass
class Service:
    """A running service. `smtp` is HOST:PORT for the mail of the application under test: any address, user and password."""

    url: str
    smtp: str
    stop: Callable[[], None]


def start_service() -> Service:
    """Returns the service that GONEBOX_URL names, or starts `gonebox serve --dev` on free ports with a temporary data folder.

    The binary is the one that GONEBOX_BINARY names, else `gonebox` on the PATH. A service that was started ends with `stop`,
    and with this process, however that ends: it shuts down when its standard input does.
    """
    if os.environ.get("GONEBOX_URL"):
        return Service(os.environ["GONEBOX_URL"], os.environ.get("GONEBOX_SMTP", ""), lambda: None)
    for _ in range(TRIES - 1):
        try:
            return _start()
        except GoneboxError as error:
            if "address already in use" not in str(error):
                raise
    return _start()


def _start() -> Service:
    http, smtp = _free_addresses()
    url, data = f"http://{http}", tempfile.mkdtemp(prefix="gonebox-")
    binary = os.environ.get("GONEBOX_BINARY") or "gonebox"
    command = [binary, "serve", "--dev", "--data-dir", data, "--http-addr", http, "--smtp-addr", smtp, "--set", f"base_url={url}", "--set", "compat.mailpit.addr=", "--set", "smtp.tls.self_signed=false", "--stop-at-eof"]
    log = open(os.path.join(data, "output"), "w+")
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT)
    except OSError as error:
        log.close()
        shutil.rmtree(data, ignore_errors=True)
        raise GoneboxError("client.start_failed", f"cannot start {binary}: {error}. Put gonebox on the PATH, or set GONEBOX_BINARY to it, or GONEBOX_URL to a running service.") from None

    def stop() -> None:
        atexit.unregister(stop)
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdin:
            process.stdin.close()
        log.close()
        shutil.rmtree(data, ignore_errors=True)

    atexit.register(stop)
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
