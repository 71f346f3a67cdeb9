"""Processes that the command starts: waited for, recorded, never killed."""
import os
import signal
import time
import unittest

from run_support import TARGETS, RunTest, alive, kill_quietly, parent_of, wait_until


class Children(RunTest):
    def test_waits_for_what_the_command_leaves_behind(self):
        late = self.folder / "late"
        result = self.run_sonde("sh", "-c", f"sh -c 'sleep 0.3; echo done > {late}; exit 6' & exit 2")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(late.read_text(), "done\n")
        statuses = [row[0] for row in self.rows("SELECT exit_status FROM process ORDER BY id")]
        self.assertIn(2, statuses)
        self.assertIn(6, statuses)

    def test_children_that_the_job_waits_for_have_their_status(self):
        result = self.run_sonde(TARGETS / "exit_ways")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(self.rows("SELECT state, exit_status FROM process ORDER BY coalesce(exit_status, 99)"),
                         [("exited", 2), ("exited", 3), ("exited", 4), ("exited", 5), ("unknown", None)])

    def test_a_python_worker_has_its_status(self):
        script = ("import multiprocessing, os, sys\n"
                  "def work():\n"
                  "    ends = os.pipe(); os.write(ends[1], b'x'); sys.exit(6)\n"
                  "worker = multiprocessing.get_context('fork').Process(target=work)\n"
                  "worker.start(); worker.join()\n")
        self.assertEqual(self.run_sonde("python3", "-c", script).returncode, 0)
        self.assertEqual(self.rows("SELECT state, exit_status FROM process ORDER BY exit_status"),
                         [("exited", 0), ("exited", 6)])

    def test_a_process_whose_first_thread_has_ended_goes_on(self):
        self.assertEqual(self.run_sonde(TARGETS / "first_thread_ends").returncode, 0)
        self.assertEqual(self.rows("SELECT count(*), count(dur_ns) FROM v_slice WHERE name = 'work'"), [(1000, 1000)])
        self.assertEqual(self.rows("SELECT state, exit_status FROM process"), [("exited", 0)])
        self.assertEqual(self.rows("SELECT * FROM loss"), [])

    def daemon(self):
        """A command that leaves a daemon behind; the daemon's pid."""
        result = self.run_sonde("sh", "-c", "setsid sleep 60 </dev/null >/dev/null 2>&1 & echo $!")
        self.assertEqual(result.returncode, 0, result.stderr)
        return int(result.stdout), result

    def test_a_daemon_is_left_running_and_marked(self):
        began = time.monotonic()
        pid, result = self.daemon()
        try:
            self.assertGreaterEqual(time.monotonic() - began, 5, "it had its 5 s")
            self.assertTrue(alive(pid))
            self.assertIn("still run", result.stderr)
            images = self.rows(f"SELECT exit_status, state FROM process WHERE pid = {pid} ORDER BY exec_count")
            self.assertEqual(images[-1], (None, "running"))
            (beside,), = self.rows("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'recorder_beside_ppm'")
            self.assertLess(beside, 100_000, "of all the time that was recorded")
            self.assert_nothing_left()
        finally:
            kill_quietly(pid)

    def test_a_signal_ends_the_wait_for_a_daemon(self):
        pid_file = self.folder / "pid"
        script = f"setsid sleep 60 </dev/null >/dev/null 2>&1 & echo $! > {pid_file}; exit 3"
        sonde = self.start_sonde("sh", "-c", script)
        wait_until(lambda: pid_file.exists() and pid_file.read_text().endswith("\n"), "the daemon runs")
        pid = int(pid_file.read_text())
        wait_until(lambda: parent_of(pid) == sonde.pid, "the recorder has adopted it")
        sonde.send_signal(signal.SIGTERM)
        self.assertEqual(sonde.wait(60), 3, sonde.stderr.read())
        self.assertTrue(alive(pid))
        kill_quietly(pid)
        sonde.stderr.close()

    def test_without_a_subreaper_orphans_are_inits(self):
        parent_file = self.folder / "parent"
        script = (f"(sh -c 'while kill -0 '$$' 2>/dev/null; do sleep 0.01; done; "
                  f"cut -d\" \" -f4 /proc/$$/stat > {parent_file}') & exit 0")
        sonde = self.start_sonde("sh", "-c", script, options=("--no-subreaper",))
        self.assertEqual(sonde.wait(60), 0)
        wait_until(lambda: parent_file.exists() and parent_file.read_text(), "the orphan has looked")
        self.assertNotEqual(int(parent_file.read_text()), sonde.pid)
        sonde.stderr.close()

    def test_a_process_tree_is_in_the_trace(self):
        self.run_sonde("sh", "-c", "sh -c 'python3 -c \"import time; time.sleep(0.2)\"; true'; true")
        commands = [row[0] or "" for row in self.rows("SELECT command FROM process")]
        self.assertTrue(any("import time; time.sleep(0.2)" in command and "python3" in command for command in commands), commands)

    def test_an_empty_environment_does_not_lose_a_child(self):
        self.run_sonde("sh", "-c", "env -i /bin/sh -c 'sleep 0.2; exit 0'; true")
        commands = [row[0] or "" for row in self.rows("SELECT command FROM process")]
        self.assertTrue(any(command.startswith("/bin/sh -c sleep 0.2; exit 0") for command in commands), commands)

    def test_the_recorders_priority_is_not_the_jobs(self):
        self.assertEqual(self.run_sonde("nice").stdout, f"{os.nice(0)}\n")

    def test_the_ranks_of_children_are_found(self):
        script = "for r in 0 1; do RANK=$r LOCAL_RANK=$r WORLD_SIZE=2 python3 -c 'import time; time.sleep(0.3)' & done; wait"
        self.run_sonde("sh", "-c", script)
        rows = self.rows("SELECT rank, local_rank, world_size FROM process "
                         "WHERE command LIKE 'python3%' ORDER BY rank")
        self.assertEqual(rows, [(0, 0, 2), (1, 1, 2)])


if __name__ == "__main__":
    unittest.main()
