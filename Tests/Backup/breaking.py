"""Breaks backups in every way that is known, and looks whether check and restore notice; and what is not broken must
still be usable. Needs the databases of the suite and none of its services."""

import datetime
import os
import re
import shutil
import signal
import subprocess
import time
import uuid

from suite_with_backup import ROOT

FILLER = "CREATE TABLE filler (number int PRIMARY KEY, at timestamptz DEFAULT clock_timestamp(), text text)"
FILL = "INSERT INTO filler SELECT %s + n, clock_timestamp(), repeat(md5(n::text), 20) FROM generate_series(1, 8000) n"
SIGNED_UP = """INSERT INTO users (id, clerk_subject, username, account_type, status, created_at, updated_at)
    VALUES (%s, %s, %s, 'personal', 'onboarding_initiated', now(), now())"""
KEY = "INSERT INTO data_keys (user_id, wrapped, master_key_id, created_at) VALUES (%s, 'k1.x', 'run', now())"
DESTROY = "UPDATE data_keys SET wrapped = NULL, destroyed_at = now() WHERE user_id = %s"


def moment():
    return datetime.datetime.now(datetime.UTC).isoformat().replace("+00:00", "Z")


class Breaking:
    def __init__(self, suite, results):
        self.suite, self.results = suite, results
        self.folder = suite.run / "copies"
        self.folder.mkdir()
        self.count = 0

    def run(self):
        self.interrupted_copies()
        self.make()
        self.nothing_is_broken()
        self.damaged_copies()
        self.damaged_wal()
        self.short_wal()
        self.moments()
        self.targets()
        self.erased()
        self.trial()
        self.receiver()
        self.pruning()
        self.pictures()
        self.other_servers()
        self.books()

    # A backup with three stretches of WAL, and what is needed to know how much of it came back

    def fill(self, number):
        """One commit of several megabytes."""
        self.suite.change("transaction", FILL, number * 10_000)

    def join(self):
        user = str(uuid.uuid4())
        self.suite.change("auth", SIGNED_UP, user, user, user.replace("-", "")[:20])
        self.suite.change("auth", KEY, user)
        return user

    def make(self):
        suite = self.suite
        suite.change("transaction", FILLER)
        self.users = [self.join() for _ in range(3)]
        suite.act("receive", suite.backup)
        suite.make_synchronous()
        suite.back_up("base")
        self.after_copy = moment()
        for number in range(1, 6):
            self.fill(number)
        self.middle = moment()
        # Later than the moment to which some go back.
        suite.change("auth", DESTROY, self.users[0])
        suite.back_up("erased")
        self.fill(6)
        suite.change("transaction", "INSERT INTO filler VALUES (1)")
        suite.act("kill_receiver")
        self.rows = suite.number("transaction", "SELECT count(*) FROM filler")

    def copy(self):
        """The backup, to be broken."""
        self.count += 1
        return shutil.copytree(self.suite.backup, self.folder / f"backup-{self.count}")

    def target(self):
        self.count += 1
        return self.folder / f"data-{self.count}"

    @staticmethod
    def segments(folder):
        return sorted((folder / "wal").glob("0*"))

    @staticmethod
    def data(folder):
        return next((folder / "base").glob("*Z")) / "data"

    # What is to be seen

    def is_good(self, title, folder):
        done = self.suite.check_backup(folder)
        self.results.check(title, done.code == 0 and done.lines[-1].endswith(" 0 failed"), done)

    def is_noticed(self, title, folder, pattern):
        done = self.suite.check_backup(folder)
        self.results.check(f"check notices {title}", done.code == 1 and re.search(pattern, done.said), done)

    def is_refused(self, title, pattern, *arguments, into=None, **options):
        """A restore that is refused leaves nothing behind."""
        target = into or self.target()
        before = sorted(target.parent.iterdir())
        done = self.suite.restore(target, *arguments, **options)
        after = sorted(target.parent.iterdir())
        good = done.code not in (0, 64) and re.search(pattern, done.said) and before == after
        self.results.check(f"a restore {title} is refused", good, done)

    def restored(self, title, *arguments, look, wanted, **options):
        """A restore that is to succeed, and what the restored server then answers."""
        target = self.target()
        done = self.suite.restore(target, *arguments, **options)
        if done.code:
            self.results.check(title, False, done)
            return done
        found = self.looked(target, look)
        self.results.check(title, found == wanted, f"{found} instead of {wanted}")
        shutil.rmtree(target)
        return done

    def looked(self, target, look):
        port = self.suite.act("free_port", "look").lines[0]
        self.suite.act("look", target, port)
        try:
            return look(re.sub(r"@127\.0\.0\.1:\d+", f"@127.0.0.1:{port}", self.suite.postgres))
        finally:
            self.suite.act("look_end")

    def filler(self, server):
        return self.suite.number("transaction", "SELECT count(*) FROM filler", server=server)

    def keys(self, server):
        sql = "SELECT user_id::text FROM data_keys WHERE wrapped IS NOT NULL"
        return sorted(row[0] for row in self.suite.rows("auth", sql, server=server))

    # Stories

    def interrupted_copies(self):
        """Killed at its beginning, in its middle and near its end; what is left counts for nothing."""
        suite = self.suite
        done = suite.try_to(ROOT / "scripts/backup", "base", "--to", suite.backup)
        self.results.check("a copy without a receiver is none", done.code == 1 and "does not come" in done.said, done)
        suite.act("receive", suite.backup)
        for seconds in (0.3, 2, 6):
            # So slow that it is never done by then.
            command = [ROOT / "scripts/backup", "base", "--to", suite.backup, "--rate", "4096"]
            process = subprocess.Popen(
                command, env=os.environ | {"TRANSFA_BACKUP_POSTGRES": suite.postgres}, start_new_session=True,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
            time.sleep(seconds)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            done = suite.check_backup()
            title = f"a copy that was killed after {seconds} s is none"
            self.results.check(title, done.code == 1 and "no whole base copy" in done.said, done)
        self.is_refused("of a copy that was killed", "no whole base copy", "--erased", "/dev/null")
        suite.back_up("base")
        left = list((suite.backup / "base").glob("*.partial"))
        self.is_good("a copy after them is whole", suite.backup)
        self.results.check("and nothing is left of them", not left, left)
        suite.act("kill_receiver")
        shutil.rmtree(suite.backup)
        suite.change("transaction", "SELECT pg_drop_replication_slot('transfa_backup')")

    def nothing_is_broken(self):
        self.is_good("the backup is good", self.suite.backup)
        open_to_others = [path for path in self.suite.backup.rglob("*") if path.stat().st_mode & 0o077]
        self.results.check("nobody else may read it", not open_to_others, open_to_others[:3])
        done = self.restored(
            "all that was received comes back", look=self.filler, wanted=self.rows
        )
        self.results.check("and submission is held back", "held back by recovery" in done.said, done)
        self.restored(
            "a moment comes back as it was", "--to", self.middle, look=self.filler, wanted=5 * 8000
        )

    def damaged_copies(self):
        for title, pattern, break_it in (
            ("a changed byte in a base copy", "damaged", self.change_a_byte),
            ("a file that is missing in a base copy", "damaged", lambda data: self.some_table(data).unlink()),
            ("a file too many in a base copy", "damaged", lambda data: (data / "base/1/99999").write_bytes(b"x")),
            ("a base copy without a manifest", "damaged", lambda data: (data / "backup_manifest").unlink()),
            ("a base copy that does not say when it ended", "when it ended",
             lambda data: (data.parent / "ended").unlink()),
        ):
            folder = self.copy()
            break_it(self.data(folder))
            self.is_noticed(title, folder, pattern)
            shutil.rmtree(folder)
        folder = self.copy()
        self.change_a_byte(self.data(folder))
        self.is_refused("of a damaged base copy", "damaged", folder=folder)
        shutil.rmtree(folder)
        folder = self.copy()
        copy = self.data(folder).parent
        copy.rename(copy.with_name(copy.name + ".partial"))
        self.is_noticed("a base copy that was not named as whole", folder, "no whole base copy")
        shutil.rmtree(folder)

    def some_table(self, data):
        return max((data / "base").rglob("[1-9]*[0-9]"), key=lambda path: path.stat().st_size)

    def change_a_byte(self, data):
        self.flip(self.some_table(data), 5000)

    @staticmethod
    def flip(path, place):
        with path.open("r+b") as file:
            file.seek(place)
            byte = file.read(1)
            file.seek(place)
            file.write(bytes([byte[0] ^ 1]))

    def damaged_wal(self):
        for title, pattern, break_it in (
            ("a segment that is missing in the middle", "is missing", lambda found: found[2].unlink()),
            ("a first segment that is missing", "is missing", lambda found: found[0].unlink()),
            ("no WAL at all", "no WAL", lambda found: [path.unlink() for path in found]),
            ("a changed byte in the middle of the WAL", "damaged", lambda found: self.flip(found[2], 3_000_000)),
            ("a changed byte in the newest WAL", "damaged", lambda found: self.flip(found[-1], 100_000)),
            ("a short segment in the middle", "bytes and not", lambda found: os.truncate(found[2], 5_000_000)),
            ("a partial segment in the middle", "not whole",
             lambda found: found[2].rename(found[2].with_name(found[2].name + ".partial"))),
            ("a segment of another timeline", "another timeline",
             lambda found: shutil.copy(found[-1], found[-1].with_name("00000002" + found[-1].name[8:24]))),
        ):
            folder = self.copy()
            # What came before the copy does not matter to it.
            used = [path for path in self.segments(folder) if path.name[:24] >= self.first_segment(folder)]
            break_it(used)
            self.is_noticed(title, folder, pattern)
            shutil.rmtree(folder)
        folder = self.copy()
        self.segments(folder)[-2].unlink()
        self.is_refused("of a backup with a gap", "is missing", folder=folder)
        shutil.rmtree(folder)

    def first_segment(self, folder):
        return re.search(r"\(file ([0-9A-F]{24})\)", (self.data(folder) / "backup_label").read_text())[1]

    def written(self, path):
        """How much of a segment holds something."""
        return len(path.read_bytes().rstrip(b"\0"))

    def short_wal(self):
        """The newest segment as far as it came: all of it is used, and nothing more is made of it."""
        newest = self.segments(self.suite.backup)[-1]
        self.results.check("the newest segment is not whole", newest.suffix == ".partial", newest)
        for title, cut, wanted in (
            ("behind its last record", 0, self.rows),
            ("in the middle of its last record", 10, self.rows - 1),
        ):
            folder = self.copy()
            path = self.segments(folder)[-1]
            os.truncate(path, self.written(path) + 8 - cut)
            self.is_good(f"a newest segment that is cut off {title} is good", folder)
            self.restored(f"and all before the cut comes back: {title}", folder=folder, look=self.filler, wanted=wanted)
            shutil.rmtree(folder)
        folder = self.copy()
        path = self.segments(folder)[-1]
        path.rename(path.with_suffix(""))
        self.restored(
            "a newest segment under its whole name comes back", folder=folder, look=self.filler, wanted=self.rows
        )
        os.truncate(self.segments(folder)[-1], 0)
        self.is_good("an empty newest segment is good", folder)
        shutil.rmtree(folder)

    def moments(self):
        later = (datetime.datetime.now(datetime.UTC) + datetime.timedelta(minutes=5)).isoformat()
        self.is_refused("to a moment after the newest commit", "after the newest commit", "--to", later)
        self.is_refused("to a moment before the base copy", "before the first", "--to", "2020-01-01T00:00:00Z")
        self.is_refused("to a moment without a time zone", "time zone", "--to", self.middle.removesuffix("Z"))
        self.is_refused("to no moment", "no moment", "--to", "soonZ")
        self.restored(
            "the moment after the copy comes back", "--to", self.after_copy, look=self.filler, wanted=0
        )

    def targets(self):
        target = self.target()
        target.mkdir()
        (target / "somebody's").write_text("data")
        self.is_refused("into a folder that is not empty", "not empty", into=target)
        target = self.target()
        partial = target.with_name(target.name + ".partial")
        self.kill_restore(target)
        self.results.check("a restore that was killed made no data folder", not target.exists() and partial.exists())
        self.is_refused("beside one that was interrupted", "interrupted", into=target)
        shutil.rmtree(partial)
        self.is_refused("of what is no backup", "no backup", folder=self.folder)
        done = self.suite.try_to(ROOT / "scripts/restore", "--from", self.suite.backup, "--into", self.target())
        self.results.check("a restore by nobody is refused", done.code == 64, done)

    def kill_restore(self, target):
        """Once it has begun to write."""
        command = [
            ROOT / "scripts/restore", "--from", self.suite.backup, "--into", target, "--operator", "ada", "--reason", "x",
        ]
        process = subprocess.Popen(
            command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while not (target.with_name(target.name + ".partial") / "PG_VERSION").exists():
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def erased(self):
        listed = (self.suite.backup / "erased").read_text().split()
        self.results.check("who was erased is on the list", listed == [self.users[0]], listed)
        self.restored(
            "who was erased later stays erased", "--to", self.middle, look=self.keys, wanted=sorted(self.users[1:])
        )
        file = self.folder / "erased"
        file.write_text("\n".join(self.users[:2]))
        done = self.restored(
            "also the last of a list without a newline at its end", "--to", self.middle, "--erased", file,
            look=self.keys, wanted=[self.users[2]],
        )
        named = [user for user in self.users[:2] if f"transfactl user erase {user}" in done.said]
        self.results.check("and what is left to do for each is said", named == self.users[:2], done)
        file.write_text("")
        self.restored(
            "an empty list erases nobody", "--to", self.middle, "--erased", file, look=self.keys,
            wanted=sorted(self.users),
        )
        file.write_text(f"{self.users[0]}\nada'); DROP TABLE users; --\n")
        self.is_refused("with a list of something else", "no user's id", "--erased", file)
        folder = self.copy()
        (folder / "erased").unlink()
        self.is_refused("without a list", "no list of erased users", folder=folder)
        shutil.rmtree(folder)

    def trial(self):
        login = self.suite.description["databases"]["transaction"]["worker"]

        def sign_in(server):
            port = re.search(r":(\d+)/", server)[1]
            return self.suite.try_to("psql", re.sub(r":\d+/", f":{port}/", login), "-XAtc", "SELECT 1").code

        self.restored("no service can sign in to a trial", trial=True, look=sign_in, wanted=2)
        done = self.restored("all can after a restore", look=sign_in, wanted=0)
        self.results.check("which says to stop the receiver", "Stop the receiver" in done.said, done)
        target = self.target()
        done = self.suite.restore(target, trial=True)
        good = not re.search("[Ss]top the receiver|held back", done.said)
        self.results.check("a trial tells nobody to stop the receiver", good, done)
        self.trial_data = target

    def receiver(self):
        done = self.suite.check_backup(None, "--within", 1)
        self.results.check("a receiver that does not run is noticed", "WAL came" in done.said and done.code == 1, done)
        self.suite.act("receive", self.suite.backup)
        self.fill(7)
        done = self.suite.check_backup(None, "--within", 60)
        self.results.check("one that goes on is not, and leaves no gap", done.code == 0, done)

    def pruning(self):
        suite = self.suite
        suite.back_up("base")
        self.fill(8)
        folder = self.copy()
        newest = sorted((folder / "base").glob("*Z"))[-1]
        self.change_a_byte(newest / "data")
        done = suite.try_to(ROOT / "scripts/backup", "prune", "--to", folder, "--keep", 1)
        kept = len(list((folder / "base").glob("*Z")))
        self.results.check("nothing is pruned while the newest copy is bad", done.code == 1 and kept == 2, done)
        self.restored(
            "the copy before it serves as well", folder=folder, look=self.filler, wanted=self.rows + 2 * 8000
        )
        shutil.rmtree(folder)
        before = len(self.segments(suite.backup))
        suite.back_up("prune", "--keep", 1)
        kept = len(list((suite.backup / "base").iterdir()))
        self.results.check("an old copy is pruned", kept == 1, kept)
        after = len(self.segments(suite.backup))
        self.results.check("and the WAL that only it needs", after < before, f"{before} segments, then {after}")
        self.is_good("what is left is good", suite.backup)

    def pictures(self):
        suite = self.suite
        store = suite.run / "pictures"
        (store / "profiles").mkdir(parents=True)
        for name in ("one", "two"):
            (store / "profiles" / name).write_text(name)
        (store / "profiles/.half").write_text("one that is being written")
        suite.back_up("images", "--from", store)
        (store / "profiles/one").unlink()
        (store / "profiles/three").write_text("three")
        suite.back_up("images", "--from", store)
        copies = suite.backup / "images/profiles"
        found = {path.name: path.read_text() for path in copies.iterdir()}
        self.results.check("pictures are as they were", found == {"two": "two", "three": "three"}, found)

    def other_servers(self):
        """WAL that does not belong together never comes into one folder."""
        port = self.suite.act("free_port", "look").lines[0]
        self.suite.act("look", self.trial_data, port)
        other = re.sub(r"@127\.0\.0\.1:\d+", f"@127.0.0.1:{port}", self.suite.postgres)
        for verb in ("base", "wal"):
            done = self.suite.try_to(
                ROOT / "scripts/backup", verb, "--to", self.suite.backup, "--postgres", other
            )
            good = done.code == 1 and "begin in a new folder" in done.said
            self.results.check(f"{verb} of a server that was restored is refused in the old folder", good, done)
        self.suite.act("look_end")

    def books(self):
        """At the end, for these break the server itself."""
        self.suite.change("transaction", "DROP FUNCTION begin_recovery")
        self.is_refused("of a release that cannot hold submission back", "older release")
        target = self.target()
        done = self.suite.restore(target, trial=True)
        self.results.check("but one may look at it", done.code == 0 and target.exists(), done)
        self.suite.change(
            "transaction",
            "UPDATE balances SET posted = posted + 1 WHERE account_id = (SELECT min(account_id) FROM balances)",
        )
        target = self.target()
        done = self.suite.restore(target, trial=True)
        good = done.code == 3 and "invariant" in done.said and target.exists()
        self.results.check("a ledger that does not add up is restored, and said to be so", good, done)
