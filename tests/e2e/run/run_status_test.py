"""How `sonde run` ends: as the command ended, or with 125, 126, 127 before it has begun."""
import signal
import unittest

from run_support import TARGETS, RunTest


class Status(RunTest):
    def one_line_of(self, text):
        lines = text.splitlines()
        self.assertEqual(len(lines), 1, text)
        self.assertTrue(lines[0].startswith("sonde run: "), lines[0])
        return lines[0]

    def refused(self, result, status=125):
        """Not begun: nothing was made, and the command has not run."""
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertFalse((self.folder / "ran").exists())
        self.assert_nothing_left()
        self.assertEqual(result.stdout, "")
        return self.one_line_of(result.stderr)

    def test_the_status_of_the_command(self):
        for status in (0, 3, 126, 127, 255):
            result = self.run_sonde("sh", "-c", f"exit {status}", options=("-f",))
            self.assertEqual(result.returncode, status, result.stderr)
            self.assertTrue(self.output.exists())
        self.assert_nothing_left()

    def test_a_signal_that_ended_the_command_ends_the_recorder(self):
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSEGV, signal.SIGPIPE):
            result = self.run_sonde("sh", "-c", f"kill -{int(number)} $$", options=("-f",))
            self.assertEqual(result.returncode, -number, result.stderr)
            self.assertTrue(self.output.exists(), "the trace is finished all the same")
        self.assertEqual([p.name for p in self.folder.iterdir() if p.name.startswith("core")], [])

    def test_a_command_that_does_not_exist(self):
        line = self.refused(self.run_sonde("no-such-command-anywhere"), 127)
        self.assertEqual(line, "sonde run: no-such-command-anywhere: command not found")
        self.refused(self.run_sonde("./nothing"), 127)

    def test_a_file_that_may_not_be_run(self):
        (self.folder / "data").write_text("text")
        self.assertIn("chmod +x", self.refused(self.run_sonde("./data"), 126))
        self.refused(self.run_sonde("/"), 126)

    def test_a_file_that_the_kernel_refuses(self):
        broken = self.folder / "broken"
        broken.write_bytes(b"\x7fELF" + b"\0" * 60)
        broken.chmod(0o755)
        self.refused(self.run_sonde("./broken"), 126)

    def test_an_interpreter_that_does_not_exist(self):
        script = self.folder / "script"
        script.write_text("#!/no/such/interpreter\n")
        script.chmod(0o755)
        self.refused(self.run_sonde("./script"), 127)

    def test_wrong_usage(self):
        touch = ("sh", "-c", "touch ran")
        self.assertIn("not an option of run", self.refused(self.run_sonde(*touch, options=("--nonsense",))))
        self.assertIn("'gpu' is not a source", self.refused(self.run_sonde(*touch, options=("--sources", "gpu"))))
        self.refused(self.run_sonde(*touch, options=("--spool-limit", "much")))
        self.assertIn("no command given", self.refused(self.run_sonde()))

    def test_a_rules_file_with_a_mistake(self):
        (self.folder / "sonde.toml").write_text("[rules]\nno-such-rule = 'error'\n")
        self.assertIn("no-such-rule", self.refused(self.run_sonde("sh", "-c", "touch ran", options=("--rules", "sonde.toml"))))
        self.refused(self.run_sonde("sh", "-c", "touch ran", options=("--rules", "missing.toml")))

    def test_rules_judge_the_finished_trace_and_leave_the_status_alone(self):
        (self.folder / "sonde.toml").write_text("[rules]\nstep-outlier = 'error'\n")
        result = self.run_sonde("sh", "-c", "exit 3", options=("--rules", "sonde.toml"))
        self.assertEqual(result.returncode, 3)
        self.assertIn("step-outlier", result.stderr)

    def test_an_output_that_exists(self):
        self.output.write_text("precious")
        self.assertIn("-f to replace it", self.refused(self.run_sonde("sh", "-c", "touch ran")))
        self.assertEqual(self.output.read_text(), "precious")

    def test_an_output_that_cannot_be_created(self):
        (self.folder / "file").write_text("")
        for place in ("file/t.sonde", "/proc/t.sonde", "/dev/null/t.sonde"):
            result = self.run_sonde("sh", "-c", "touch ran", options=("-o", place), output=False)
            self.assertIn("give another place with -o", self.refused(result))

    def test_a_place_without_a_spool_refuses_the_recording_not_the_job(self):
        # In a mount namespace in which the default places are not usable either. The build may be in one of them, so it is
        # reached through another path.
        build = TARGETS.parent.parent
        inside = (f"mount --bind '{build}' /mnt && mount --bind /proc /tmp && mount --bind /proc /var/tmp &&"
                  ' cd /mnt/tests/targets && exec "$@"')
        _, *arguments = self.arguments("sh", "-c", "echo job; exit 4", output=False)
        result = self.in_namespace(inside, "/mnt/bin/sonde", *arguments, SONDE_SPOOL="/proc", TMPDIR="/sys")
        self.assertEqual((result.returncode, result.stdout), (4, "job\n"), result.stderr)
        line = self.one_line_of(result.stderr)
        self.assertTrue(line.startswith("sonde run: not recording: /proc: proc"), line)
        self.assertIn("--spool", line)
        self.assertEqual(list(TARGETS.glob("*.sonde*")), [])


if __name__ == "__main__":
    unittest.main()
