"""Postgres servers that a story may kill, copy and promote: each has a folder and a socket of its own, and no port.

Their programs are those of the PATH. Root runs them as the user `postgres`, for Postgres refuses root.
"""
import os, pathlib, shutil, signal, subprocess, tempfile, time

import ledger as L

PATIENCE = 60
OWN = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if os.geteuid() == 0 else []
SETTINGS = {"listen_addresses": "", "fsync": "off", "shared_buffers": "16MB", "max_connections": "20", "max_wal_size": "64MB",
            "autovacuum": "off", "jit": "off", "timezone": "UTC"}


class Folder:
    """Where all servers of a test stand; gone at its end, and they with it."""

    def __enter__(self):
        self.path, self.servers = pathlib.Path(tempfile.mkdtemp(prefix="epoch-", dir="/tmp")), []
        if OWN: shutil.chown(self.path, "postgres", "postgres")
        return self

    def __exit__(self, *_):
        for server in self.servers: server.stop()
        shutil.rmtree(self.path, ignore_errors=True)

    def server(self, name):
        self.servers.append(Server(self.path / name))
        return self.servers[-1]

    def made(self, name):
        """A new cluster that runs."""
        server = self.server(name)
        run("initdb", "--pgdata", server.data, "--username=postgres", "--auth=trust", "--no-sync", "--wal-segsize=1",
            "--locale=C.UTF-8", "--encoding=UTF8")
        server.start()
        return server

    def copied(self, name, source, *options):
        """The files of a server that runs, as a base backup has them; nothing runs in them yet."""
        server = self.server(name)
        run("pg_basebackup", "--pgdata", server.data, "--host", source.folder, "--username=postgres", "--wal-method=stream",
            "--checkpoint=fast", "--no-sync", *options)
        return server

    def again(self, name, source):
        """The files of a server that does not run, once more."""
        server = self.server(name)
        run("cp", "-a", source.data, server.data)
        return server


def run(program, *words):
    done = subprocess.run([*OWN, program, *map(str, words)], capture_output=True, text=True, cwd="/")
    assert done.returncode == 0, f"{program}: {done.stderr[-400:]}"
    return done.stdout


class Server:
    """One server: its files, and the process while it runs."""

    def __init__(self, folder):
        self.folder, self.data, self.process = folder, folder / "data", None
        folder.mkdir()
        if OWN: shutil.chown(folder, "postgres", "postgres")

    def start(self):
        settings = [f"-c{name}={value}" for name, value in {**SETTINGS, "unix_socket_directories": self.folder}.items()]
        with open(self.folder / "log", "a") as log:
            self.process = subprocess.Popen([*OWN, "postgres", "-D", self.data, *settings], stdout=log, stderr=log, cwd="/")
        self.until_there()

    def stop(self, how=signal.SIGQUIT):
        """Ends it, and leaves nothing in memory; unless told to do it in order, what it has is of no interest any more."""
        if self.process is None: return
        self.process.send_signal(how)
        self.process.wait(PATIENCE)
        self.process = None

    def kill(self):
        """As when the machine loses its power: the server first, so that it does not tidy up after the others."""
        self.process.send_signal(signal.SIGSTOP)
        children = self.children()
        self.process.kill()
        for pid in children: end(pid)
        self.process.wait(PATIENCE)
        self.process = None
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        for lock in self.folder.glob(".s.PGSQL.*"): lock.unlink()

    def children(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(pid) for pid in text.split()]

    def connect(self, database="postgres", role=None):
        c = L.psycopg.connect(host=str(self.folder), user="postgres", dbname=database, autocommit=True)
        if role: c.execute(f"SET SESSION AUTHORIZATION {L.ROLES[role]}")
        return c

    def one(self, sql, database="postgres", role=None):
        with self.connect(database, role) as c: return c.execute(sql).fetchone()[0]

    def until_there(self):
        """Waits until the server answers, whatever befell it."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try: return self.one("SELECT 1")
            except L.psycopg.OperationalError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise AssertionError((self.folder / "log").read_text()[-600:])
            time.sleep(.02)

    def until_open(self):
        """Waits until a restore has reached its end, and writes are taken."""
        deadline = time.monotonic() + PATIENCE
        while self.one("SELECT pg_is_in_recovery()"):
            assert time.monotonic() < deadline, (self.folder / "log").read_text()[-600:]
            time.sleep(.02)


def end(pid):
    try: os.kill(pid, signal.SIGKILL)
    except ProcessLookupError: return
    deadline = time.monotonic() + PATIENCE
    while is_alive(pid):
        assert time.monotonic() < deadline, f"{pid} does not end"
        time.sleep(.01)


def is_alive(pid):
    """Whether it still runs; what nobody has collected does not."""
    try: return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except (FileNotFoundError, ProcessLookupError): return False
