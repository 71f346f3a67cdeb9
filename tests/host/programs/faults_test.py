"""compare.py finds faults: a library that is wrong on purpose is preloaded in place of Sonde's."""
import os
import pathlib
import re
import subprocess
import sys
import unittest

COMPARE = pathlib.Path(__file__).resolve().parent / "compare.py"
FAULTS = os.environ["SONDE_HOST_FAULTS"]


class Faults(unittest.TestCase):
    def compare(self, fault, case):
        done = subprocess.run([sys.executable, COMPARE, "--preload", FAULTS, "--only", f"^{case}$", "--limit", "20", "--times", "1"],
                              env={**os.environ, "SONDE_HOST_FAULT": fault}, capture_output=True, text=True, timeout=200)
        return done.returncode, done.stdout + done.stderr

    def find(self, fault, case, how):
        status, said = self.compare(fault, case)
        self.assertEqual(status, 1, said)
        self.assertRegex(said, f"^differs +{re.escape(case)} ")
        self.assertRegex(said, how)

    def test_no_fault_is_none(self):
        status, said = self.compare("none", "dash: redirections")
        self.assertEqual(status, 0, said)

    def test_a_hang_is_named_with_its_arguments(self):
        self.find("close-loops", "dash: pipelines", r"hangs; still running at the time limit:\n( +\d+ .*\n)* +\d+ dash /.*pipelines.sh \[R")

    def test_a_wrong_result(self):
        self.find("dup2-of-itself", "python3: processes", r"exit status: bare 0, recorded 1")

    def test_a_wrong_errno(self):
        self.find("errno", "python3: processes", r"-EBADF .*\n +\+ENOENT ")

    def test_bytes_that_are_lost(self):
        self.find("short-write", "coreutils: coreutils", r"stdout:\n")

    def test_a_descriptor_that_is_left_open(self):
        self.find("leak", "python3: processes", r"\n +-\[0, 1, 2\]\n")

    def test_a_signal_mask_that_is_changed(self):
        self.find("mask", "python3: processes", r"\n +-\[<Signals.SIGUSR1: 10>\] \[\]\n")


if __name__ == "__main__":
    unittest.main()
