"""Sends mail with Python's smtplib: python3 senders.py HOST PORT CA_FILE TO OTHER. The test beside it knows what must arrive."""

import smtplib
import ssl
import sys
from email.message import EmailMessage
from email.policy import SMTP

host, port, ca, to, other = sys.argv[1:]


def connect():
    return smtplib.SMTP(host, int(port), timeout=60)


def letter(subject, text, recipients):
    m = EmailMessage()
    m["From"], m["To"], m["Subject"] = "Sender <sender@example.org>", ", ".join(recipients), subject
    m.set_content(text)
    return m


# Several mails on one connection, one of them for two recipients.
with connect() as s:
    assert s.send_message(letter("plain", "Hello.\n.dots\n..more dots\n", [to])) == {}
    assert s.send_message(letter("two", "To both.\n", [to, other])) == {}

# SMTPUTF8: the sender's address and the subject are UTF-8 on the wire.
with connect() as s:
    m = letter("utf8 ü đ", "Chào bạn.\n", [to])
    del m["From"]
    m["From"] = "jürgen@example.org"
    assert s.send_message(m) == {}

# 8BITMIME.
with connect() as s:
    m = letter("eight", "Grüße.\n", [to])
    m.set_content("Grüße.\n", cte="8bit")
    assert s.sendmail("sender@example.org", [to], m.as_bytes(policy=SMTP.clone(cte_type="8bit")), mail_options=["BODY=8BITMIME"]) == {}

# STARTTLS with the certificate checked.
context = ssl.create_default_context(cafile=ca)
context.check_hostname = False
with connect() as s:
    s.ehlo()
    s.starttls(context=context)
    assert s.send_message(letter("tls", "Under TLS.\n", [to])) == {}

# One recipient is refused, the other one gets the mail.
with connect() as s:
    refused = s.send_message(letter("partly", "To one.\n", [to, "nobody-" + to]))
    assert list(refused) == ["nobody-" + to] and refused["nobody-" + to][0] == 550, refused

# An attachment.
with connect() as s:
    m = letter("attached", "See the file.\n", [to])
    m.add_attachment(bytes(range(256)) * 400, maintype="application", subtype="octet-stream", filename="octets.bin")
    assert s.send_message(m) == {}

# All refused.
with connect() as s:
    try:
        s.send_message(letter("none", "To nobody.\n", ["nobody-" + to]))
        raise SystemExit("a mail to nobody was taken")
    except smtplib.SMTPRecipientsRefused:
        pass
