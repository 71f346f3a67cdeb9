"""What the run_*_test.py files share: `sonde run` on real processes, in a folder of each test's own.

SONDE_BIN and SONDE_TARGETS name the built program and the folder of test targets.
"""
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

SONDE = os.environ["SONDE_BIN"]
TARGETS = pathlib.Path(os.environ["SONDE_TARGETS"])
SOURCES = pathlib.Path(__file__).resolve().parents[2] / "targets"  # what they are made of
SLOW = bool(os.environ.get("SONDE_SLOW"))  # the tier of scripts/test.sh --all
slow = unittest.skipUnless(SLOW, "slow: scripts/test.sh --all")
PATIENCE = 120  # seconds that a test waits for what must happen before it fails


def wait_until(condition, what):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain until {what}")
        time.sleep(0.01)


def stat_of(pid):
    """The fields of /proc/PID/stat behind the name: state, parent, …; "X" when there is no such process."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ["X", "0"]


def state_of(pid):
    return stat_of(pid)[0]


def parent_of(pid):
    return int(stat_of(pid)[1])


def alive(pid):
    return state_of(pid) not in "ZX"


class RunTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sonde-run-"))
        self.spool = self.folder / "spool"
        self.spool.mkdir()
        self.output = self.folder / "out.sonde"
        self.environment = {k: v for k, v in os.environ.items()
                            if k not in ("RANK", "WORLD_SIZE", "LD_PRELOAD", "SONDE_SESSION")}
        self.environment["SONDE_SPOOL"] = str(self.spool)
        # The loops measure the cost of recording once for all tests; tests about the loops use a folder of their own.
        self.environment["XDG_CACHE_HOME"] = str(TARGETS.parent / "cache")

    def tearDown(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def arguments(self, *command, options=(), output=True):
        where = ("-o", str(self.output)) if output else ()
        return [SONDE, "run", *where, *options, "--", *map(str, command)]

    def run_sonde(self, *command, options=(), output=True, env=None, **popen):
        return subprocess.run(self.arguments(*command, options=options, output=output),
                              cwd=popen.pop("cwd", self.folder), env={**self.environment, **(env or {})},
                              capture_output=True, text=popen.pop("text", True), timeout=popen.pop("timeout", PATIENCE),
                              **popen)

    def start_sonde(self, *command, options=(), output=True, **popen):
        popen.setdefault("stderr", subprocess.PIPE)
        return subprocess.Popen(self.arguments(*command, options=options, output=output), cwd=self.folder,
                                env=self.environment, text=True, **popen)

    def in_namespace(self, preparation, *command, cwd=None, **environment):
        """Runs a command in a mount namespace of its own, after `preparation` (shell, ending in exec "$@")."""
        enter = ["unshare", "--mount"] + ([] if os.geteuid() == 0 else ["--user", "--map-root-user"])
        return subprocess.run([*enter, "sh", "-c", preparation, "sh", *map(str, command)],
                              cwd=cwd or self.folder, env={**self.environment, **environment},
                              capture_output=True, text=True, timeout=PATIENCE)

    def recover_session(self):
        """Finishes the one session of this test. (Without an argument `sonde recover` would take those of others too.)"""
        session, = self.spool.glob("sonde-*/*")
        done = subprocess.run([SONDE, "recover", session], env=self.environment, capture_output=True, text=True,
                              timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)

    def rows(self, query, path=None):
        with sqlite3.connect(f"file:{path or self.output}?mode=ro", uri=True) as database:
            return database.execute(query).fetchall()

    def summary(self, path):
        return json.loads(path.read_text())

    def assert_nothing_left(self):
        """The spool folder is empty and no unfinished trace lies about."""
        self.assertEqual([str(p) for p in self.spool.rglob("*") if not p.is_dir()], [])
        self.assertEqual([str(p) for p in self.folder.glob("*.part*")], [])


def kill_quietly(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
