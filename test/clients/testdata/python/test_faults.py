import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from gonebox import AsyncGonebox, Gonebox, GoneboxError, start_service


@pytest.fixture
def faulty():
    return Gonebox(os.environ["FAULTY_URL"])


def test_wait_outlives_a_restart(faulty):
    mailbox = faulty.create_mailbox()
    message = mailbox.wait_for_message(timeout=60)
    assert message.subject == "After the restart"
    assert mailbox.wait_for_code(timeout=60) == "246810"
    assert mailbox.wait_for_link(timeout=60) == "https://shop.example/verify"


def test_wait_that_cannot_go_on_says_what_it_waited_for():
    mailbox = Gonebox(os.environ["FAULTY_URL"], "xu_down").create_mailbox()
    for name in ("wait_for_code", "wait_for_link", "wait_for_message", "expect_no_message"):
        with pytest.raises(GoneboxError) as failure:
            getattr(mailbox, name)(timeout=30)  # less than Retry-After
        text = str(failure.value)
        assert failure.value.code == "server.unavailable" and failure.value.status == 503 and failure.value.retry_after == 600, text
        assert text.startswith(f"{name} (down@faulty.example) failed after "), text


def test_wait_at_a_dead_address_ends_with_its_time(faulty):
    mailbox = faulty.create_mailbox()
    mailbox._http.url = "http://127.0.0.1:1"
    began = time.monotonic()
    with pytest.raises(GoneboxError, match=r"wait_for_code \(restarted@faulty.example\) failed after \d+\.\d s: no Gonebox answers at http://127.0.0.1:1 \(GET /mailboxes/me/messages: ") as failure:
        mailbox.wait_for_code(timeout=1)
    assert failure.value.code == "client.unreachable" and time.monotonic() - began >= 1


def run(program, **environ):
    """Starts a Python program."""
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], env={**os.environ, **environ}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_cancelled_wait_does_not_keep_the_program(gonebox):
    program = run(f"""
        import asyncio
        from gonebox import AsyncGonebox
        async def main():
            mailbox = await AsyncGonebox({gonebox.url!r}).create_mailbox()
            waits = [asyncio.ensure_future(mailbox.wait_for_code(timeout=600)) for _ in range(20)]
            await asyncio.sleep(0.5)
            for wait in waits: wait.cancel()
            print(await asyncio.gather(*waits, return_exceptions=True) == [asyncio.CancelledError()] * 20 or "cancelled", flush=True)
            try:
                await asyncio.wait_for(mailbox.wait_for_code(timeout=600), 0.2)
            except asyncio.TimeoutError:
                print("the caller's deadline", flush=True)
        asyncio.run(main())
        """)
    assert program.stdout.readline() == "cancelled\n"
    assert program.stdout.readline() == "the caller's deadline\n"
    out, _ = program.communicate(timeout=20)  # of its start nothing counts; a poll takes 25 seconds
    assert out == "" and program.returncode == 0


def test_many_waits_at_once(gonebox):
    async def main():
        async with await AsyncGonebox(gonebox.url).create_mailbox() as mailbox:
            waits = [asyncio.ensure_future(mailbox.wait_for_code(timeout=60)) for _ in range(50)]
            await asyncio.sleep(0.2)
            await mailbox.inject(text="Your verification code is 482913.")
            return await asyncio.gather(*waits)

    assert asyncio.run(main()) == ["482913"] * 50


def test_service_takes_other_ports_where_its_own_are_taken(tmp_path, monkeypatch):
    program = tmp_path / "gonebox"  # ends the first time as gonebox does if another process has its port
    program.write_text(textwrap.dedent("""\
        #!/bin/sh
        [ -e "$0.tried" ] && exec "$REAL_BINARY" "$@"
        touch "$0.tried"
        echo "http.addr: listen tcp 127.0.0.1:1: bind: address already in use" >&2
        exit 1
        """))
    program.chmod(0o700)
    monkeypatch.setenv("REAL_BINARY", os.environ["GONEBOX_BINARY"])
    monkeypatch.setenv("GONEBOX_BINARY", str(program))
    start_service().stop()


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL, None], ids=str)
def test_service_ends_with_the_test_run(end):
    program = run("""
        import os, subprocess, time
        from gonebox import start_service
        service = start_service()
        print(service.url, *subprocess.run(["pgrep", "-P", str(os.getpid()), "gonebox"], capture_output=True, text=True).stdout.split(), flush=True)
        time.sleep(0 if os.environ["END"] == "None" else 600)
        """, END=str(end), GONEBOX_URL="")
    url, child = program.stdout.readline().split()
    if end is not None:
        program.send_signal(end)
    program.wait(60)
    deadline = time.monotonic() + 60
    while os.path.exists(f"/proc/{child}"):
        assert time.monotonic() < deadline, f"the service still runs a minute after {end} to the program that started it"
        time.sleep(0.05)


@pytest.mark.parametrize("key", ["x_abc_secret\n", "x_abc_secret\r\nX-More: 1", "x_abc_sécret", "x_abc secret", "“x_abc_secret”"])
def test_invalid_key_is_not_shown(key):
    with pytest.raises(GoneboxError) as failure:
        Gonebox("http://localhost:8080", key)
    assert failure.value.code == "client.invalid_key" and "abc" not in str(failure.value)
    with pytest.raises(GoneboxError) as failure:
        Gonebox(key, "http://localhost:8080")
    assert failure.value.code == "client.invalid_url" and "secret" not in str(failure.value)


def test_failures_are_short(tmp_path):
    """What pytest prints of a failure is the line of the test and the error."""
    (tmp_path / "test_it.py").write_text(textwrap.dedent("""
        from gonebox import Gonebox
        def test_timeout(mailbox): mailbox.wait_for_code(timeout=0.1)
        def test_link(mailbox): mailbox.wait_for_link(timeout=0.1)
        def test_unexpected(mailbox):
            mailbox.inject(text="x")
            mailbox.expect_no_message(timeout=0.1)
        def test_unknown(mailbox): mailbox.message("msg_1")
        def test_ended(mailbox):
            mailbox.destroy()
            mailbox.wait_for_message(timeout=1)
        def test_down(): Gonebox("http://127.0.0.1:1").create_mailbox()
        """))
    out = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"], cwd=tmp_path, capture_output=True, text=True).stdout
    assert "6 failed" in out, out
    for part in out.split("\n____")[1:]:
        report = part.split("\n====")[0].split("\n", 1)[1]
        assert "gonebox/_" not in report and "urllib" not in report and len(report.splitlines()) < 14, report
