"""The application of the recipes in docs/testing.md: it sends a code to who signs up, at SMTP_URL, and listens on PORT."""

import os
import secrets
import smtplib
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

SIGN_UP = '<form method="post" action="/sign-up"><label>E-mail <input name="email"></label><button>Sign up</button></form>'
CONFIRM = '<form method="post" action="/confirm"><label>Code <input name="code"></label><button>Confirm</button></form>'
codes = set()


class Application(BaseHTTPRequestHandler):
    def do_GET(self):
        self.show(SIGN_UP)

    def do_POST(self):
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        if self.path == "/sign-up":
            send(form["email"][0])
            self.show(CONFIRM)
        else:
            self.show("Welcome" if form["code"][0] in codes else "Wrong code")

    def show(self, body):
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(f"<!doctype html><title>Shop</title>{body}".encode())

    def log_message(self, *_):
        pass


def send(to):
    code = f"{secrets.randbelow(900_000) + 100_000}"
    codes.add(code)
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "shop@company.test", to, "Welcome"
    mail.set_content(f"Your code is {code}.")
    server = urlsplit(os.environ["SMTP_URL"])
    with smtplib.SMTP(server.hostname, server.port) as client:
        client.send_message(mail)


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 3000))), Application).serve_forever()
