"""A TCP relay on a loopback port, whose clients are led to one server, then to another, or to nobody."""
import contextlib
import socket
import threading

CHUNK = 65536


def end(*sockets):
    """Wakes whoever reads from them, too, which closing alone would not."""
    for one in sockets:
        with contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
        one.close()


class Relay:
    """Leads to the server at a loopback port, from construction to the end of its `with`."""

    def __init__(self, target):
        self.target = target
        self.pairs = set()
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *problem):
        end(self.listener)
        self.lead_to(None)

    def lead_to(self, target):
        """Cuts every connection; new ones go to this port, or end at once when it is None."""
        with self.lock:
            self.target = target
            pairs, self.pairs = self.pairs, set()
        for pair in pairs:
            end(*pair)

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with self.lock:
            target = self.target
        try:
            if target is None:
                raise ConnectionRefusedError
            server = socket.create_connection(("127.0.0.1", target), timeout=5)
        except OSError:
            return end(client)
        server.settimeout(None)
        for one in (client, server):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.lock:
            # It may have been led elsewhere meanwhile.
            is_good = self.target == target
            if is_good:
                self.pairs.add((client, server))
        if not is_good:
            return end(client, server)
        threading.Thread(target=self.copy, args=(client, server), daemon=True).start()
        self.copy(server, client)
        with self.lock:
            self.pairs.discard((client, server))

    @staticmethod
    def copy(source, target):
        """Until either side ends; then neither stays."""
        with contextlib.suppress(OSError):
            while data := source.recv(CHUNK):
                target.sendall(data)
        end(source, target)
