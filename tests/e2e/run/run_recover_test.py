"""What `sonde recover` knows of processes that began when their recorder was dead."""
import signal
import sqlite3
import subprocess
import unittest

from run_support import RunTest, alive, wait_until


class Recover(RunTest):
    def stored_ranks(self):
        try:
            return self.rows("SELECT rank FROM process WHERE rank IS NOT NULL", f"{self.output}.part")
        except sqlite3.OperationalError:
            return []  # nothing is stored yet

    def test_processes_that_began_after_their_recorder_died(self):
        pid_file, go = self.folder / "pid", self.folder / "go"
        late = "sh -c 'sleep 0; true' late --token s3cr3t corp-17"
        script = f"echo $$ > {pid_file}; while [ ! -e {go} ]; do sleep 0.05; done; {late}; true"
        self.environment.update(RANK="1", WORLD_SIZE="2")
        sonde = self.start_sonde("sh", "-c", script, options=("--redact", "corp-*"), stderr=subprocess.DEVNULL)
        wait_until(lambda: pid_file.exists() and pid_file.read_text().endswith("\n"), "the job runs")
        wait_until(self.stored_ranks, "its rank is stored")
        sonde.send_signal(signal.SIGKILL)
        sonde.wait()
        go.touch()
        pid = int(pid_file.read_text())
        wait_until(lambda: not alive(pid), "the job has ended")
        self.recover_session()
        rows = self.rows("SELECT command, rank, world_size FROM process WHERE command LIKE 'sh -c sleep 0%'")
        self.assertEqual(rows, [("sh -c sleep 0; true late --token [redacted] [redacted]", 1, 2)])
        self.assertEqual(self.rows("SELECT count(*) FROM process WHERE command IS NULL OR rank IS NOT 1"), [(0,)])
        self.assertNotIn(b"s3cr3t", self.output.read_bytes())


if __name__ == "__main__":
    unittest.main()
