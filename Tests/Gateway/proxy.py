"""HAProxy with the gateway's configuration, on free loopback ports."""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts/lib"))
import gateway as configured  # noqa: E402

CONFIGURATION = ROOT / "deploy/gateway/haproxy.cfg"


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def eventually(holds, seconds=10.0, every=0.05):
    """Waits until it holds; the last value of `holds`."""
    end = time.monotonic() + seconds
    while True:
        value = holds()
        if value or time.monotonic() > end:
            return value
        time.sleep(every)


class Gateway:
    """`with Gateway(folder, services, GATEWAY_...=...) as gateway`: started, and every service known to be healthy."""

    def __init__(self, folder, services, **settings):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.ports = {name: free_port() for name in ("https", "http", "internal")}
        self.socket = self.folder / "admin.sock"
        self.log = self.folder / "gateway.log"
        self.services = services
        certificate = self.folder / "gateway.pem"
        configured.make_certificate(certificate)
        self.settings = {
            "PATH": os.environ["PATH"] + ":/usr/sbin",
            "GATEWAY_TLS_CERTIFICATE": str(certificate),
            "GATEWAY_PUBLIC_URL": f"https://api.example:{self.ports['https']}",
            "GATEWAY_HTTPS_BIND": f"127.0.0.1:{self.ports['https']}",
            "GATEWAY_HTTP_BIND": f"127.0.0.1:{self.ports['http']}",
            "GATEWAY_INTERNAL_BIND": f"127.0.0.1:{self.ports['internal']}",
            "GATEWAY_ADMIN_SOCKET": str(self.socket),
            "GATEWAY_CHECK_INTERVAL": "200ms",
        }
        for name, service in services.items():
            self.settings[f"{name.upper()}_ADDRESS"] = f"127.0.0.1:{service.ports[0]}"
            self.settings[f"{name.upper()}_HEALTH_PORT"] = str(service.ports[1])
        self.settings |= settings

    def __enter__(self):
        configuration = os.environ.get("TRANSFA_GATEWAY_CONFIGURATION", str(CONFIGURATION))
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                ["haproxy", "-W", "-f", configuration], env=self.settings, stdout=log, stderr=log,
                stdin=subprocess.DEVNULL, cwd=self.folder, start_new_session=True,
            )
        if not eventually(self.is_up) or self.process.poll() is not None:
            self.__exit__()
            raise RuntimeError(f"the gateway did not start: {self.log.read_text()[-2000:]}")
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait(10)

    def is_up(self):
        if self.process.poll() is not None:
            return True
        return self.socket.exists() and all(self.status(name) == "UP" for name in self.services)

    def command(self, text):
        """What the admin socket answers."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(5)
            try:
                connection.connect(str(self.socket))
                connection.sendall(text.encode() + b"\n")
                answer = b""
                while piece := connection.recv(65536):
                    answer += piece
            except OSError:
                return ""
        return answer.decode()

    def status(self, service, number=1):
        """UP, DOWN, MAINT, DRAIN or what is between them."""
        for line in self.command("show stat").splitlines():
            fields = line.split(",")
            if fields[:2] == [service, f"{service}{number}"]:
                # While a server has not been asked twice, it says so by a count.
                return fields[17] if fields[17] != "UP" or "L7OK" in line else "asked"
        return ""

    def lines(self):
        """What was logged about requests and connections."""
        return [line for line in self.log.read_text().splitlines() if line.startswith("{")]
