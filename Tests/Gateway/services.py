"""What stands in place of the services: small servers that answer with what they were sent, fail when told to, and keep
what came."""

import http.server
import json
import socket
import threading
import time

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
# As the page of console answers.
PAGE_POLICY = "default-src 'none'; script-src 'self'; frame-ancestors 'none'"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 20

    def do(self):
        service = self.server.service
        size = int(self.headers.get("content-length", 0))
        body = self.rfile.read(size)
        service.seen.append({
            "method": self.command, "target": self.path, "body": len(body),
            "headers": [(name.lower(), value) for name, value in self.headers.items()],
        })
        mode = service.mode if service.mode != "fail once" else "fail"
        if service.mode == "fail once":
            service.mode = "answer"
        if mode == "hang up":
            self.close_connection = True
            return
        if mode == "hang up once":
            service.mode = "answer"
            self.close_connection = True
            return
        if mode == "sleep":
            time.sleep(service.pause)
        if mode == "stream":
            self.stream(service)
            return
        self.answer(500 if mode == "fail" else 200)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = do

    def answer(self, status):
        text = json.dumps({"service": self.server.service.name, **self.server.service.seen[-1]}).encode()
        self.send_response_only(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.send_header("server", "echo/1.0")
        self.send_header("traceparent", f"00-{TRACE}-00f067aa0ba902b7-01")
        if self.server.service.name == "console":
            self.send_header("content-security-policy", PAGE_POLICY)
            self.send_header("cache-control", "no-cache")
        self.end_headers()
        self.wfile.write(text)

    def stream(self, service):
        """Events with pauses, until the reader is gone."""
        self.send_response_only(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            for number in range(service.events):
                event = f"id: {number}\ndata: {{}}\n\n".encode()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
                self.wfile.flush()
                time.sleep(service.pause)
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            pass
        self.close_connection = True

    def log_message(self, *_):
        pass


class HealthHandler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        healthy = self.server.service.healthy and self.path == "/health/ready"
        self.send_response_only(200 if healthy else 503)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Names:
    """A DNS server that knows addresses of version 4 of some names, and changes its mind when told."""

    def __init__(self, known):
        self.known = known
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                asked, client = self.socket.recvfrom(4096)
            except OSError:
                return
            labels, place = [], 12
            while asked[place]:
                labels.append(asked[place + 1:place + 1 + asked[place]].decode())
                place += 1 + asked[place]
            question = asked[12:place + 5]
            wants_v4 = question[-4:] == b"\x00\x01\x00\x01"
            addresses = self.known.get(".".join(labels), []) if wants_v4 else []
            answer = asked[:2] + b"\x81\x80\x00\x01" + len(addresses).to_bytes(2, "big") + bytes(4) + question
            for address in addresses:
                answer += b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x01\x00\x04" + socket.inet_aton(address)
            self.socket.sendto(answer, client)

    def stop(self):
        self.socket.close()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, client_address):
        """HAProxy ends connections as soon as it knows enough."""


class Service:
    """A service with its public port and the port that tells its health, on ports that stay the same."""

    def __init__(self, name, host="127.0.0.1", ports=(0, 0)):
        self.name = name
        self.host = host
        self.seen = []
        self.ports = list(ports)
        self.servers = []
        self.reset()

    def reset(self):
        self.mode, self.healthy, self.pause, self.events = "answer", True, 0.0, 3
        self.seen.clear()

    def start(self):
        for index, handler in enumerate((Handler, HealthHandler)):
            server = Server((self.host, self.ports[index]), handler)
            server.service = self
            self.ports[index] = server.server_address[1]
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
            self.servers.append(server)
        return self

    def stop(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()
        self.servers = []
