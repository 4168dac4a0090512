"""Redis servers of a run, which it may kill, empty, set their clocks, and let one follow another."""

import pathlib
import shutil
import signal
import subprocess
import time

from replicas import free_port

ADMIN = "of-the-test-alone"


def call(command, seconds=30):
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)


class RedisServer:
    """One redis-server that keeps nothing on disk."""

    def __init__(self, folder, name, given, words=()):
        self.folder, self.words = pathlib.Path(folder) / name, list(words)
        self.folder.mkdir(parents=True)
        self.port = free_port(given)
        # How far its clock is ahead, in seconds.
        self.ahead = 0
        self.process = None
        # As scripts/lib/processes.sh keeps them: whoever finds this run broken off can end the server.
        self.record = pathlib.Path(folder) / "pids" / name

    @property
    def command(self):
        """What it is started with; a Sentinel overrides it."""
        return ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(self.folder),
                "--requirepass", ADMIN, "--masterauth", ADMIN, "--repl-diskless-sync-delay", "0", *self.words]

    def start(self):
        self.ahead = 0
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen([shutil.which("redis-server"), *self.command], stdout=log, stderr=log,
                                            stdin=subprocess.DEVNULL)
        self.record.parent.mkdir(exist_ok=True)
        started = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(") ", 1)[1].split()[19]
        self.record.write_text(f"{self.process.pid} {started}\n")
        deadline = time.monotonic() + 60
        while self.ask("PING") != "PONG":
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"Redis did not get ready, see {self.folder}/log")
            time.sleep(0.05)
        return self

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        if self.process:
            self.process.wait()

    def ask(self, *words):
        done = call(["redis-cli", "--no-auth-warning", "-p", str(self.port), "-a", ADMIN, *map(str, words)])
        return done.stdout.strip()

    def must(self, *words):
        said = self.ask(*words)
        if said != "OK":
            raise RuntimeError(f"Redis said to {words[0]}: {said!r}")

    def follow(self, master):
        """Begins to copy another server, and returns when it has caught up."""
        self.must("REPLICAOF", "127.0.0.1", master.port)
        deadline = time.monotonic() + 60
        while "master_link_status:up" not in self.ask("INFO", "replication"):
            if time.monotonic() > deadline:
                raise RuntimeError("a replica of Redis did not catch up within a minute")
            time.sleep(0.05)

    # The clock

    def move_clock(self, ahead):
        """Lets keys end as if its clock were so many seconds ahead, or behind.

        Debian's Redis does not start under libfaketime: the two do not agree about who allocates memory first. What the
        services notice of the clock is when keys end, and that is what is changed, of each key there is.
        """
        script = ("for _, key in ipairs(redis.call('KEYS', '*')) do local left = redis.call('PTTL', key) "
                  "if left > 0 then redis.call('PEXPIRE', key, math.max(left - ARGV[1], 1)) end end "
                  "return redis.status_reply('OK')")
        self.must("EVAL", script, 0, (ahead - self.ahead) * 1000)
        self.ahead = ahead


class Sentinel(RedisServer):
    """A Sentinel that alone decides on a failover of `main`, soon."""

    def __init__(self, folder, given, master):
        super().__init__(folder, "sentinel", given)
        self.settings = self.folder / "sentinel.conf"
        self.settings.write_text(
            f"port {self.port}\nbind 127.0.0.1\ndir {self.folder}\nrequirepass {ADMIN}\n"
            f"sentinel monitor main 127.0.0.1 {master.port} 1\nsentinel auth-pass main {ADMIN}\n"
            "sentinel down-after-milliseconds main 500\nsentinel failover-timeout main 5000\n")

    @property
    def command(self):
        return [str(self.settings), "--sentinel"]
