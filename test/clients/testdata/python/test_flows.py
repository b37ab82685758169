import asyncio
import smtplib
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
    assert mail.verified is False
    assert (mail.authentication.verified, mail.authentication.domain, mail.authentication.dkim) == (False, None, "none")


def test_an_address_of_the_sink_before_its_mail(gonebox, gonebox_service):
    mailbox = gonebox.open_mailbox("new.user@company.test")
    send(gonebox_service, "new.user@company.test", "--code", "246810")
    assert mailbox.wait_for_code() == "246810"
    assert gonebox.open_mailbox(mailbox.address).id == mailbox.id
    dialog = mailbox.transcript(mailbox.wait_for_message().id)
    assert (dialog.lines[-1].from_, dialog.lines[-1].text, dialog.refused) == ("server", "250 2.0.0 Message taken", False)


def test_project_of_the_workers_own(project, gonebox_service):
    with smtplib.SMTP(gonebox_service.smtp.split(":")[0], int(gonebox_service.smtp.split(":")[1])) as app:
        app.login(project.smtp.username, project.smtp.password)
        app.sendmail("app@shop.example", ["anyone@shop.example"], "Subject: Welcome\r\n\r\nYour code is 135790.\r\n")
    assert project.wait_for_code(to="anyone@") == "135790"
    with pytest.raises(GoneboxError, match=project.name):
        project.wait_for_code(to="nobody@", timeout=0.3)


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


def test_checks_of_a_message(mailbox, gonebox):
    message = mailbox.inject(text="Hello", html="<p>\n<b style='display:grid'>Hello</b></p>")
    checks = mailbox.checks(message.id)
    assert checks.score < 100 and len(checks.clients_as_of) == len("2026-01-31")
    missing, = [w for w in checks.warnings if w.code == "unsubscribe_missing"]
    assert (missing.line, missing.clients, missing.feature) == (None, [], None)
    grid, = [w for w in checks.warnings if w.feature == "css-display-grid"]
    assert (grid.code, grid.title, grid.line) == ("html_feature", "display:grid", 2) and "Outlook Windows" in grid.clients

    async def same():
        box = await AsyncGonebox(gonebox.url).open_mailbox(mailbox.token)
        return await box.checks(message.id)

    assert asyncio.run(same()) == checks


def test_webhook_to_localhost(gonebox, gonebox_service):
    account = gonebox.request("POST", "/auth/register", {"email": "py@app.example", "password": "correct horse"})
    app = Gonebox(gonebox.url, account.token)
    hook = Receiver("otp.extracted")
    app.request("POST", "/me/webhooks", {"url": hook.url, "events": ["otp.extracted"]})
    send(gonebox_service, app.create_mailbox().address, "--code", "135791")
    assert hook.events.get(timeout=60)["data"]["code"] == "135791"


def test_all_mail_of_an_account(gonebox, gonebox_service):
    account = gonebox.request("POST", "/auth/register", {"email": "py-all@app.example", "password": "correct horse"})
    app = Gonebox(gonebox.url, account.token)
    key = app.request("POST", "/me/api-keys", {"name": "n", "scopes": ["messages:read"]}).key
    one, two = app.create_mailbox(), app.create_mailbox()
    link = "https://app.example/reset?token=Zx81"
    for client in app, Gonebox(gonebox.url, key):
        send(gonebox_service, one.address, "--code", "135791", "--subject", "Code for one")
        send(gonebox_service, two.address, "--subject", "Reset", "--html", f'<a href="{link}">Reset</a>')
        assert client.wait_for_code(to=one.address) == "135791"
        assert client.wait_for_link(to=two.address, q="subject:reset") == link
        assert client.wait_for_message(q="code", to=one.address).subject == "Code for one"
        assert [m.address for m in client.messages(q="reset", to=two.address, limit=1)] == [two.address]
        assert [m.address for m in client.messages(mailbox=one.address, limit=1)] == [one.address]
        with pytest.raises(GoneboxError, match=two.address):
            client.wait_for_code(to=two.address, timeout=0.3)
    assert one.wait_for_code(to=one.address) == "135791"
    assert one.messages(to="absent@") == []

    async def same():
        client = AsyncGonebox(gonebox.url, key)
        assert await client.wait_for_code(to=one.address) == "135791"
        assert (await client.messages(q="reset", limit=1))[0].address == two.address

    asyncio.run(same())


def test_no_service_answers():
    with pytest.raises(GoneboxError, match="http://127.0.0.1:9"):
        Gonebox("http://127.0.0.1:9").create_mailbox()
