"""A server in between that spoils answers, to see that it is noticed."""

import contextlib
import http.client
import http.server
import threading
import urllib.parse

HOP = {"connection", "keep-alive", "transfer-encoding", "content-length"}


class Answer:
    """What goes back, for a bug to change."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def header(self, name):
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def set_header(self, name, value):
        """Another value; None takes the header away."""
        self.headers = [(key, old) for key, old in self.headers if key.lower() != name.lower()]
        if value is not None:
            self.headers.append((name, value))


def handler(target, ask, spoil):
    """`ask(headers)` may change what is asked, `spoil(answer)` what is answered."""
    address = urllib.parse.urlsplit(target).netloc

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # An answer in one piece: its second half would wait for the first one's acknowledgement.
        wbufsize = -1

        def handle_any(self):
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length) if length else None
            headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP}
            ask(headers)
            connection = http.client.HTTPConnection(address, timeout=30)
            with contextlib.closing(connection):
                connection.request(self.command, self.path, body, headers)
                reply = connection.getresponse()
                kept = [(name, value) for name, value in reply.getheaders() if name.lower() not in HOP]
                answer = Answer(reply.status, kept, reply.read())
            spoil(answer)
            self.reply(answer)

        def reply(self, answer):
            self.send_response_only(answer.status)
            for name, value in answer.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def __getattr__(self, name):
            if name.startswith("do_"):
                return self.handle_any
            raise AttributeError(name)

        def log_message(self, *arguments):
            """Nothing."""

    return Handler


@contextlib.contextmanager
def spoiled(target, ask=lambda headers: None, spoil=lambda answer: None):
    """The address of a server that hands everything on to `target`."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(target, ask, spoil))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
