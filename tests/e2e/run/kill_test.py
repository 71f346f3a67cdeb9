"""Kills the target, the recorder and `sonde recover` at random moments and counts what is left.

The target stores in a page of its own how many annotations have returned. Whatever is killed, every one of them must be
in the trace exactly once or be counted as lost, and recovering again must change nothing.

SONDE_KILL_ROUNDS="200,100": how often the target and the recorder are killed (20,10 without it). SONDE_KILL_SEED: a
number that a failure printed.
"""
import hashlib
import os
import pathlib
import random
import signal
import sqlite3
import struct
import subprocess
import tempfile
import time
import unittest

from run_support import SONDE, TARGETS, alive

THREADS = 3
SEED = int(os.environ.get("SONDE_KILL_SEED", random.randrange(1 << 30)))
TARGET_ROUNDS, RECORDER_ROUNDS = map(int, os.environ.get("SONDE_KILL_ROUNDS", "20,10").split(","))


class Round:
    """One recording of the target in a folder of its own."""

    def __init__(self, folder, seconds, *options):
        self.folder = pathlib.Path(folder)
        self.trace = self.folder / "out.sonde"
        self.counter = self.folder / "counter"
        self.spool = self.folder / "spool"
        self.spool.mkdir()
        self.process = subprocess.Popen(
            [SONDE, "run", "-o", self.trace, "--spool", self.spool, *options, "--",
             os.path.join(TARGETS, "annotation_counter"), self.counter, str(seconds), str(THREADS)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def target(self):
        """The target's pid as soon as it counts; 0 when the recorder ends before that."""
        while self.process.poll() is None:
            if self.counter.exists() and self.counter.stat().st_size == 4096:
                pid = struct.unpack_from("Q", self.counter.read_bytes(), 8 * 8)[0]
                if pid != 0:
                    return pid
            time.sleep(0.001)
        return 0

    def counted(self):
        if not self.counter.exists():
            return [0] * THREADS
        return list(struct.unpack(f"{THREADS}Q", self.counter.read_bytes()[: 8 * THREADS].ljust(8 * THREADS, b"\0")))

    def sessions(self):
        return sorted(self.spool.glob("sonde-*/*"))

    def recover(self, *arguments):
        return subprocess.run([SONDE, "recover", *arguments], capture_output=True, text=True, timeout=60)

    def digest(self):
        return hashlib.sha256(self.trace.read_bytes()).hexdigest()


class KillTest(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(SEED)

    def check(self, one, number):
        """Every counted annotation is there once, or its begin was counted as lost."""
        where = f"round {number}, SONDE_KILL_SEED={SEED}"
        trace = sqlite3.connect(f"file:{one.trace}?mode=ro", uri=True)
        rows = trace.execute(
            "SELECT t.text, arg.value FROM slice s JOIN string t ON t.id = s.name_id "
            "LEFT JOIN arg ON arg.owner = 'slice' AND arg.owner_id = s.id "
            "WHERE s.kind = 'operation'").fetchall()
        open_ones = trace.execute("SELECT count(*) FROM slice WHERE kind = 'operation' AND dur_ns IS NULL").fetchone()[0]
        lost, lost_ends = (trace.execute("SELECT coalesce(sum(count), 0) FROM loss WHERE probe = 'annotation' AND kind = ?",
                                         [kind]).fetchone()[0] for kind in ("scope begin", "scope end"))
        problems = trace.execute("PRAGMA integrity_check").fetchall()
        trace.close()
        self.assertEqual(problems, [("ok",)], where)
        numbered = [row for row in rows if row[1] is not None]  # the argument, too, may have been lost
        self.assertEqual(len(numbered), len(set(numbered)), f"{where}: something is there twice")
        for thread, counted in enumerate(one.counted()):
            numbers = {n for name, n in rows if name == f"thread {thread}"}
            missing = set(range(counted)) - numbers
            unnumbered = sum(n is None for name, n in rows if name == f"thread {thread}")
            self.assertLessEqual(len(missing), lost + unnumbered,
                                 f"{where}: thread {thread}: {sorted(missing)[:5]} … are missing")
        self.assertLessEqual(open_ones, lost_ends + THREADS, f"{where}: more are open than threads were")
        self.assertGreaterEqual(len(rows) + lost, sum(one.counted()), where)

    def check_second_recover(self, one, number):
        before = one.digest()
        for session in one.sessions():
            one.recover(session)
        self.assertEqual(one.digest(), before, f"round {number}, SONDE_KILL_SEED={SEED}")
        self.assertEqual(one.sessions(), [], f"round {number}, SONDE_KILL_SEED={SEED}")

    def test_target_killed(self):
        for number in range(TARGET_ROUNDS):
            options = ["--spool-limit", "1MiB"] if number % 4 == 3 else []
            with tempfile.TemporaryDirectory() as folder, self.subTest(number=number):
                one = Round(folder, 5, *options)
                target = one.target()
                self.assertGreater(target, 0, one.process.returncode)  # kill(0) would end this test's caller, too
                time.sleep(self.random.uniform(0, 0.4))
                os.kill(target, signal.SIGKILL)
                errors = one.process.communicate(timeout=60)[1]
                self.assertEqual(one.process.returncode, -signal.SIGKILL, errors)
                self.check(one, number)
                self.check_second_recover(one, number)

    def test_recorder_killed(self):
        hits = 0
        for number in range(RECORDER_ROUNDS):
            with tempfile.TemporaryDirectory() as folder, self.subTest(number=number):
                hits += self.kill_recorder(folder, number)
        self.assertGreater(hits, RECORDER_ROUNDS // 2, "most recorders had ended before they were killed")

    def kill_recorder(self, folder, number):
        """Returns whether the recorder still ran when it was killed."""
        seconds = self.random.uniform(0.05, 0.3)
        one = Round(folder, seconds)
        target = one.target()
        self.assertGreater(target, 0, one.process.returncode)
        # In every other round, near the end, while the trace is being finished.
        late = seconds + self.random.uniform(-0.02, 0.15)
        time.sleep(late if number % 2 else self.random.uniform(0, seconds))
        one.process.kill()
        one.process.communicate()
        while alive(target):
            time.sleep(0.01)
        for session in one.sessions():
            # Kills the first recover, too: recovery must be able to continue from any point.
            hasty = subprocess.Popen([SONDE, "recover", session], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(self.random.uniform(0, 0.12))
            hasty.kill()
            hasty.wait()
        for session in one.sessions():
            done = one.recover(session)
            self.assertEqual(done.returncode, 0, f"round {number}, SONDE_KILL_SEED={SEED}: {done.stderr}")
        self.assertTrue(one.trace.exists(), f"round {number}, SONDE_KILL_SEED={SEED}")
        self.check(one, number)
        self.check_second_recover(one, number)
        return one.process.returncode == -signal.SIGKILL


if __name__ == "__main__":
    unittest.main()
