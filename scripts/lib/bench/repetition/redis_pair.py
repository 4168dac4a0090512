"""A Redis and its replica, for one failover."""
import pathlib
import subprocess
import time

from measuring import RUN

SERVERS = pathlib.Path(__file__).resolve().parents[3] / "servers"
CATCH_UP_SECONDS = 60


def redis(port, *words):
    command = ["redis-cli", "-h", "127.0.0.1", "-p", str(port), *map(str, words)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    # Its status is 0 then, too.
    if answer.startswith(("ERR", "READONLY", "NOAUTH", "LOADING")):
        raise SystemExit(f"Redis answered {' '.join(command)} with {answer}")
    return answer


def servers(verb, *arguments):
    """Of scripts/servers; what it says is shown when it fails."""
    done = subprocess.run([SERVERS, verb, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"scripts/servers {verb} failed: {done.stdout}{done.stderr}")


class RedisPair:
    """Two servers that keep nothing on disk, the second a replica of the first; gone at the end of its `with`."""

    def __init__(self):
        self.folders = [RUN / "redis-first", RUN / "redis-second"]
        self.ports = []

    def __enter__(self):
        try:
            self.clear()
            for folder in self.folders:
                servers("start", folder, "redis")
                self.ports.append(int((folder / "ports/redis").read_text()))
            redis(self.ports[1], "REPLICAOF", "127.0.0.1", self.ports[0])
            # It is made a copy of the first now and not in the middle of what is measured.
            self.await_copy()
        except BaseException:
            self.clear()
            raise
        return self

    def __exit__(self, *problem):
        self.clear()

    def clear(self):
        for folder in self.folders:
            if (folder / "pids").exists():
                servers("destroy", folder)

    def await_copy(self):
        """Waits until the replica has all that the first one has now."""
        wanted = int(self.replication(0)["master_repl_offset"])
        limit = time.monotonic() + CATCH_UP_SECONDS
        while not self.has(wanted):
            if time.monotonic() > limit:
                raise SystemExit(f"the replica has not caught up within {CATCH_UP_SECONDS} s")
            time.sleep(0.1)

    def has(self, offset):
        second = self.replication(1)
        return second["master_link_status"] == "up" and int(second["slave_repl_offset"]) >= offset

    def replication(self, number):
        lines = redis(self.ports[number], "INFO", "replication").splitlines()
        return dict(line.strip().split(":", 1) for line in lines if ":" in line)

    def kill_first(self):
        servers("kill-redis", self.folders[0])

    def promote_second(self):
        redis(self.ports[1], "REPLICAOF", "NO", "ONE")
