import asyncio
from concurrent.futures import ThreadPoolExecutor
from queue import Queue

import pytest
from app import Receiver, send
from gonebox import AsyncGonebox, Gonebox, GoneboxError


def test_sign_up_wait_for_the_code(mailbox, gonebox_service):
    send(gonebox_service, mailbox.address, "--code", "246810")
    assert mailbox.wait_for_code() == "246810"


def test_reset_by_link(mailbox, gonebox_service):
    link = "https://app.example/reset?token=Zx81"
    html = f'<a href="https://app.example/">App</a> <a href="{link}">Reset</a>'
    send(gonebox_service, mailbox.address, "--subject", "Your password", "--html", html)
    assert mailbox.wait_for_link(subject="password") == link


def test_invoice_with_attachment_and_subject(mailbox, gonebox_service):
    send(gonebox_service, mailbox.address, "--subject", "Invoice 4711", "--from", "billing@app.example", "--attach", "invoice.txt")
    send(gonebox_service, mailbox.address, "--subject", "Newsletter")
    mail = mailbox.wait_for_message(from_="billing@", subject="invoice", has="attachment")
    assert mail.subject == "Invoice 4711"
    assert mail.attachments[0].filename == "invoice.txt"
    assert mailbox.attachment(mail.id, mail.attachments[0].id) == b"EUR 42\n"


def test_no_mail_comes(mailbox, gonebox_service):
    mailbox.expect_no_message(timeout=1)
    send(gonebox_service, mailbox.address)
    with pytest.raises(GoneboxError) as failure:
        mailbox.expect_no_message(timeout=20)
    assert failure.value.code == "wait.unexpected_message"
    with pytest.raises(GoneboxError, match=mailbox.address):
        mailbox.wait_for_code(from_="other", timeout=0.3)


def test_40_in_parallel(gonebox):
    def sign_up(code):
        mailbox = gonebox.create_mailbox()
        mailbox.inject(text=f"Your code is {code}.")
        return mailbox.wait_for_code(timeout=60)

    codes = [str(246800 + i) for i in range(40)]
    with ThreadPoolExecutor(40) as pool:
        assert list(pool.map(sign_up, codes)) == codes


def test_40_in_parallel_with_asyncio(gonebox):
    async def sign_up(client, code):
        mailbox = await client.create_mailbox()
        arrived = asyncio.ensure_future(mailbox.wait_for_code(timeout=60))
        await mailbox.inject(text=f"Your code is {code}.")
        return await arrived

    async def all_of(codes):
        client = AsyncGonebox(gonebox.url)
        return await asyncio.gather(*(sign_up(client, code) for code in codes))

    codes = [str(357900 + i) for i in range(40)]
    assert asyncio.run(all_of(codes)) == codes


def test_messages_as_they_come(mailbox):
    mailbox.inject(subject="Before", text="Hello")
    arrived = Queue()
    stop = mailbox.on("message", arrived.put)
    mailbox.inject(subject="One", text="Hello", attachments=[{"filename": "a.bin", "content": b"\0\xff"}])
    mailbox.inject(b"Subject: Two\r\n\r\nHello\r\n")
    assert [arrived.get(timeout=60).subject for _ in range(2)] == ["One", "Two"]
    stop()


def test_messages_as_they_come_with_asyncio(gonebox):
    async def flow():
        mailbox = await AsyncGonebox(gonebox.url).create_mailbox()
        arrived = asyncio.Queue()
        stop = await mailbox.on("message", arrived.put_nowait)
        await mailbox.inject(subject="One", text="Hello")
        assert (await asyncio.wait_for(arrived.get(), 60)).subject == "One"
        stop()

    asyncio.run(flow())


def test_webhook_to_localhost(gonebox, gonebox_service):
    account = gonebox.request("POST", "/auth/register", {"email": "py@app.example", "password": "correct horse"})
    app = Gonebox(gonebox.url, account.token)
    hook = Receiver("otp.extracted")
    app.request("POST", "/me/webhooks", {"url": hook.url, "events": ["otp.extracted"]})
    send(gonebox_service, app.create_mailbox().address, "--code", "135791")
    assert hook.events.get(timeout=60)["data"]["code"] == "135791"


def test_no_service_answers():
    with pytest.raises(GoneboxError, match="http://127.0.0.1:9"):
        Gonebox("http://127.0.0.1:9").create_mailbox()
