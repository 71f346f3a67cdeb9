"""A limit on open files (ulimit -n): the recorder needs one for each process that runs."""
import resource
import unittest

from run_support import RunTest

CHILDREN = 60

# All processes live at once, and each makes a call that is recorded.
MANY_AT_ONCE = f"""
import os, time
begin, go = os.pipe()
children = []
for _ in range({CHILDREN}):
    pid = os.fork()
    if pid == 0:
        os.close(go)
        os.write(os.pipe()[1], b"x")
        os.read(begin, 1)
        os._exit(0)
    children.append(pid)
time.sleep(1)  # for the recorder to see them
os.close(go)
for pid in children:
    os.waitpid(pid, 0)
"""


def limited(soft, hard):
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Descriptors(RunTest):
    def processes(self):
        return self.rows("SELECT count(*), sum(state = 'exited') FROM process")[0]

    def test_more_processes_than_the_soft_limit(self):
        result = self.run_sonde("python3", "-c", MANY_AT_ONCE, preexec_fn=limited(32, 1024))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.processes(), (CHILDREN + 1, CHILDREN + 1), result.stderr)
        self.assert_nothing_left()

    def test_more_processes_than_the_hard_limit(self):
        result = self.run_sonde("python3", "-c", MANY_AT_ONCE, preexec_fn=limited(48, 48))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.processes(), (CHILDREN + 1, CHILDREN + 1), result.stderr)
        self.assertEqual(self.rows("SELECT * FROM loss"), [])
        self.assert_nothing_left()

    def test_the_job_sees_its_own_limit(self):
        result = self.run_sonde("sh", "-c", "ulimit -Sn; ulimit -Hn", preexec_fn=limited(64, 512))
        self.assertEqual(result.stdout.split(), ["64", "512"])


if __name__ == "__main__":
    unittest.main()
