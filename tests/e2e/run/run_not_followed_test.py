"""Programs that Sonde's library would break run as they are, and the trace says so."""
import os
import shutil
import unittest

from run_support import TARGETS, RunTest


class NotFollowed(RunTest):
    def recorded_as(self, program):
        result = self.run_sonde(program, options=("-f",))
        self.assertEqual((result.returncode, result.stdout), (0, "plain\n"), result.stderr)
        return result.stderr, self.rows("SELECT probe, reason, count FROM loss")

    def assert_left_alone(self, program, why):
        said, losses = self.recorded_as(program)
        self.assertIn(f"is not recorded ({why})", said)
        self.assertIn(("process", "not followed", 1), losses)
        self.assertNotIn("ld.so", said)

    def test_a_plain_program_is_followed(self):
        said, losses = self.recorded_as(TARGETS / "plain_program")
        self.assertNotIn("not recorded", said)
        self.assertEqual(losses, [])
        self.assertEqual(self.rows("SELECT count(*) FROM process"), [(1,)])

    def test_a_static_program(self):
        self.assert_left_alone(TARGETS / "static_program", "static")

    def test_a_sanitized_program(self):
        self.assert_left_alone(TARGETS / "asan_program", "sanitizer")
        self.assert_left_alone(TARGETS / "static_asan_program", "sanitizer")

    def test_a_setuid_program(self):
        copy = self.folder / "suid"
        shutil.copy(TARGETS / "plain_program", copy)
        copy.chmod(0o4755)
        self.assert_left_alone(copy, "setuid")

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "only root can become another user")
    def test_a_program_of_another_user(self):
        become = "setpriv --reuid 65534 --clear-groups /bin/echo out"
        result = self.run_sonde("sh", "-c", f"{become}; {become}", options=("-f",))
        self.assertEqual((result.returncode, result.stdout), (0, "out\nout\n"), result.stderr)
        self.assertEqual(self.rows("SELECT probe, kind, reason, count FROM loss"),
                         [("process", "exec", "not followed", 1)] * 2)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_a_forked_child_of_another_user(self):
        program = ("import os\nif os.fork() == 0:\n    os.setuid(65534)\n    os.execv('/bin/echo', ['echo', 'out'])\n"
                   "os.wait()")
        result = self.run_sonde("python3", "-c", program, options=("-f",))
        self.assertEqual((result.returncode, result.stdout), (0, "out\n"), result.stderr)
        self.assertIn("1 process is not in the trace, because another user", result.stderr)
        self.assertEqual(self.rows("SELECT probe, kind, reason, count FROM loss"),
                         [("process", "image", "spool not reachable", 1)])

    def test_a_script_is_its_interpreter(self):
        script = self.folder / "script"
        script.write_text(f"#!{TARGETS / 'static_program'}\n")
        script.chmod(0o755)
        self.assert_left_alone(script, "static")

    def test_such_a_program_gets_nothing_in_its_environment(self):
        script = self.folder / "env"
        shutil.copy(shutil.which("env"), script)
        script.chmod(0o4755)
        for name in ("LD_PRELOAD", "SONDE_SESSION", "NVTX_INJECTION64_PATH"):
            self.assertNotIn(name + "=", self.run_sonde(script, options=("-f",)).stdout)
            self.assertIn(name + "=", self.run_sonde("env", options=("-f",)).stdout)


if __name__ == "__main__":
    unittest.main()
