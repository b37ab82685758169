"""The application under test: it sends mail over SMTP, and receives webhooks."""

import json
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue


def send(service, to, *flags):
    subprocess.run([os.environ["GONEBOX_BINARY"], "send", "--server", service.smtp, "--to", to, *flags], check=True, stdout=subprocess.DEVNULL)


class Receiver(ThreadingHTTPServer):
    """Receives webhooks; `events` are those of the wanted type."""

    def __init__(self, wanted):
        events = self.events = Queue()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(204)
                self.end_headers()
                if event["type"] == wanted:
                    events.put(event)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/hook"
        threading.Thread(target=self.serve_forever, daemon=True).start()
