"""What the tests of capture control share: a program that counts in annotations, and what a trace has of its numbers."""
import json
import os
import struct
import subprocess

from run_support import PATIENCE, SONDE, TARGETS, RunTest, kill_quietly, wait_until

NUMBERS = TARGETS / "annotation_numbers"


class CaptureTest(RunTest):
    def setUp(self):
        super().setUp()
        self.page = self.folder / "page"
        self.running = []

    def tearDown(self):
        for process in self.running:
            kill_quietly(process.pid)
        (self.folder / "page.stop").touch()  # what outlived its recorder holds its pipe
        for process in self.running:
            process.communicate(timeout=PATIENCE)
        super().tearDown()

    def count(self, *options, ending="exit", per_ms=8, how=()):
        """Starts a recording of the counting program; returns once it counts."""
        process = self.start_sonde(NUMBERS, self.page, per_ms, ending, *how, options=options)
        self.running.append(process)
        wait_until(lambda: process.poll() is not None or self.number() > 0, "the program counts")
        self.assertIsNone(process.poll(), process.stderr)
        return process

    def counted(self):
        return struct.unpack_from("QQ", self.page.read_bytes()) if self.page.exists() and self.page.stat().st_size else (0, 0)

    def number(self):
        return self.counted()[0]

    def target(self):
        return self.counted()[1]

    def count_on(self, by=200):
        """Returns when the program has counted on by so many."""
        until = self.number() + by
        wait_until(lambda: self.number() >= until, f"the program has counted to {until}")

    def end(self, process):
        """Lets the program end; returns what the recorder said."""
        (self.folder / "page.stop").touch()
        return process.communicate(timeout=PATIENCE)[1]

    def ctl(self, pid, *words, status=0):
        done = subprocess.run([SONDE, "ctl", str(pid), *words], env=self.environment, capture_output=True, text=True,
                              timeout=PATIENCE)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr if status else done.stdout

    def status(self, pid):
        return json.loads(self.ctl(pid, "status", "--format", "json"))

    def numbers(self, path=None):
        return [n for (n,) in self.rows(
            "SELECT arg.value FROM slice JOIN string ON string.id = name_id JOIN arg ON owner = 'slice' AND "
            "owner_id = slice.id WHERE text = 'count' ORDER BY arg.value", path)]

    def intervals(self, path=None):
        """First and last of each run of numbers without a hole."""
        found = []
        for n in self.numbers(path):
            if found and n == found[-1][1] + 1:
                found[-1][1] = n
            else:
                found.append([n, n])
        return found

    def notes(self, path=None):
        return [text for (text,) in self.rows("SELECT text FROM note WHERE source = 'recorder' ORDER BY id", path)]
