"""Signals: what is sent to the recorder reaches the command, once; what the terminal sends reaches it once, too."""
import os
import pty
import signal
import subprocess
import time
import unittest

from run_support import SONDE, RunTest, alive, kill_quietly, parent_of, state_of, wait_until

# Counts its signals, until SIGUSR2.
COUNTER = """
import os, signal, sys, time
counts = {}
def count(number, frame):
    counts[number] = counts.get(number, 0) + 1
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGQUIT):
    signal.signal(number, count)
done = []
signal.signal(signal.SIGUSR2, lambda *_: done.append(1))
open(sys.argv[1] + '.new', 'w').write(str(os.getpid()))
os.rename(sys.argv[1] + '.new', sys.argv[1])
while not done:
    time.sleep(0.01)
    open(sys.argv[2] + '.new', 'w').write(' '.join(f'{int(k)}:{v}' for k, v in sorted(counts.items())))
    os.rename(sys.argv[2] + '.new', sys.argv[2])
"""


class Signals(RunTest):
    def setUp(self):
        super().setUp()
        self.pid_file = self.folder / "pid"
        self.counts = self.folder / "counts"
        (self.folder / "counter.py").write_text(COUNTER)

    def tearDown(self):
        if self.pid_file.exists():
            kill_quietly(int(self.pid_file.read_text()))  # of a test that failed before it ended it
        super().tearDown()

    def counter(self):
        return ("python3", "counter.py", self.pid_file, self.counts)

    def started(self):
        wait_until(lambda: self.pid_file.exists() and self.counts.exists(), "the job has started")
        return int(self.pid_file.read_text())

    def seen(self):
        return self.counts.read_text()

    def test_what_is_sent_to_the_recorder_reaches_the_job_once(self):
        sonde = self.start_sonde(*self.counter())
        self.started()
        expected = []
        for number in sorted((signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)):
            sonde.send_signal(number)
            expected.append(f"{int(number)}:1")
            wait_until(lambda n=number: f"{int(n)}:" in self.seen(), f"signal {number} has come")
        time.sleep(0.1)
        self.assertEqual(sorted(self.seen().split()), sorted(expected))
        sonde.send_signal(signal.SIGUSR2)
        self.assertEqual(sonde.wait(60), 0, sonde.stderr.read())
        self.assertTrue(self.output.exists())
        sonde.stderr.close()

    def test_a_signal_to_the_whole_group_reaches_the_job_once(self):
        sonde = self.start_sonde(*self.counter(), start_new_session=True)
        self.started()
        for _ in range(5):
            before = self.seen()
            os.killpg(sonde.pid, signal.SIGUSR1)
            wait_until(lambda b=before: self.seen() != b, "the signal has come")
            time.sleep(0.05)
        self.assertEqual(self.seen(), f"{int(signal.SIGUSR1)}:5")
        sonde.send_signal(signal.SIGUSR2)
        self.assertEqual(sonde.wait(60), 0)
        sonde.stderr.close()

    def on_a_terminal(self):
        """`sonde run` in the foreground of a terminal of its own; its pid and the terminal's other end."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve(SONDE, self.arguments(*self.counter()), self.environment)
        return pid, terminal

    def drain(self, terminal):
        try:
            while os.read(terminal, 4096):
                pass
        except OSError:
            pass

    def test_ctrl_c_reaches_the_job_once(self):
        sonde, terminal = self.on_a_terminal()
        job = self.started()
        os.write(terminal, b"\x03")
        wait_until(lambda: self.seen(), "the signal has come")
        time.sleep(0.2)
        self.assertEqual(self.seen(), f"{int(signal.SIGINT)}:1")
        os.write(terminal, b"\x1c")
        wait_until(lambda: " " in self.seen(), "SIGQUIT has come")
        time.sleep(0.2)
        self.assertEqual(self.seen(), f"{int(signal.SIGINT)}:1 {int(signal.SIGQUIT)}:1")
        os.kill(job, signal.SIGUSR2)
        self.drain(terminal)
        self.assertEqual(os.waitpid(sonde, 0)[1], 0)
        self.assertTrue(self.output.exists())
        os.close(terminal)

    def test_ctrl_c_ends_a_job_that_does_not_catch_it(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve(SONDE, self.arguments("sh", "-c", f"echo $$ > {self.pid_file}; exec sleep 60"),
                      self.environment)
        wait_until(lambda: self.pid_file.exists() and self.pid_file.read_text(), "the job has started")
        os.write(terminal, b"\x03")
        self.drain(terminal)
        status = os.waitpid(pid, 0)[1]
        self.assertTrue(os.WIFSIGNALED(status))
        self.assertEqual(os.WTERMSIG(status), signal.SIGINT)
        self.assertTrue(self.output.exists())
        os.close(terminal)

    def test_a_group_that_is_stopped_and_continued_goes_on(self):
        sonde = self.start_sonde(*self.counter(), start_new_session=True)
        job = self.started()
        os.killpg(sonde.pid, signal.SIGSTOP)
        wait_until(lambda: state_of(job) == "T", "it stops")
        os.killpg(sonde.pid, signal.SIGCONT)
        sonde.send_signal(signal.SIGUSR2)
        self.assertEqual(sonde.wait(60), 0)
        sonde.stderr.close()

    def test_ctrl_z_stops_both_and_fg_continues_both(self):
        # An interactive shell, like a user's: job control needs one.
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve("/bin/bash", ["bash", "--norc", "-i"], self.environment)
        command = " ".join(map(str, self.arguments(*self.counter())))
        os.write(terminal, command.encode() + b"\n")
        job = self.started()
        recorder = parent_of(job)
        os.write(terminal, b"\x1a")
        wait_until(lambda: state_of(job) == "T" and state_of(recorder) == "T", "both have stopped")
        os.write(terminal, b"fg\n")
        wait_until(lambda: state_of(job) != "T" and state_of(recorder) != "T", "both go on")
        os.kill(job, signal.SIGUSR2)
        wait_until(lambda: self.output.exists(), "the trace is finished")
        os.write(terminal, b"exit 9\n")
        self.drain(terminal)
        self.assertEqual(os.WEXITSTATUS(os.waitpid(pid, 0)[1]), 9)
        os.close(terminal)

    def test_a_dead_terminal_does_not_stop_the_recording(self):
        """The reader of stderr has gone: the recorder must not die of SIGPIPE before the trace is finished."""
        reader, writer = os.pipe()
        sonde = self.start_sonde(*self.counter(), stderr=writer)
        os.close(writer)
        os.close(reader)
        self.started()
        sonde.send_signal(signal.SIGUSR2)
        self.assertEqual(sonde.wait(60), 0)
        self.assertTrue(self.output.exists())

    def test_a_killed_recorder_leaves_the_job_alone(self):
        sonde = self.start_sonde(*self.counter())
        job = self.started()
        sonde.kill()
        sonde.wait(60)
        sonde.stderr.close()
        time.sleep(0.2)
        self.assertTrue(alive(job))
        os.kill(job, signal.SIGUSR1)
        wait_until(lambda: self.seen(), "the job still works")
        os.kill(job, signal.SIGUSR2)
        wait_until(lambda: not alive(job), "the job has ended")
        recovered = self.folder / "recovered.sonde"
        session = next((self.spool / f"sonde-{os.geteuid()}").iterdir())
        result = subprocess.run([SONDE, "recover", session, "-o", recovered], capture_output=True, text=True,
                                env=self.environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.rows("SELECT count(*) FROM process", recovered), [(1,)])


if __name__ == "__main__":
    unittest.main()
