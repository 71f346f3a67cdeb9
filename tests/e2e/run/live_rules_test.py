"""Rules judge a run while it is recorded: they stop it, run commands, call webhooks, and harm nobody."""
import http.server
import json
import socket
import threading
import unittest

from run_support import RunTest, alive, kill_quietly

# Records a loss in each iteration until a signal comes; from `argv[1]` on it is NaN. Then it does what argv[2] says.
JOB = """
import os, pathlib, signal, subprocess, sys, time, sonde
bad, how = int(sys.argv[1]), sys.argv[2]
if how == 'stubborn':
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen(['sh', '-c', 'trap "" TERM; while :; do sleep 0.1; done'], start_new_session=True)
    pathlib.Path('child').write_text(str(child.pid))
if how == 'checkpoint':
    def save(*_):
        pathlib.Path('checkpoint').write_text('x')
        sys.exit(0)
    signal.signal(signal.SIGUSR1, save)
pathlib.Path('pid').write_text(str(os.getpid()))
for i in range(int(sys.argv[3])):
    with sonde.iteration():
        time.sleep(0.01)
        sonde.scalar('loss', float('nan') if i >= bad else 1 / (i + 1))
sys.exit(7)
"""
FOREVER = 100_000


class LiveRules(RunTest):
    def setUp(self):
        super().setUp()
        (self.folder / "job.py").write_text(JOB)
        self.rules("")

    def tearDown(self):
        for name in ("pid", "child"):
            if (self.folder / name).exists():
                kill_quietly(int((self.folder / name).read_text()))
        super().tearDown()

    def rules(self, more, severity="error"):
        (self.folder / "sonde.toml").write_text(f'[rules]\nloss-not-decreasing = "{severity}"\n{more}')

    def watch(self, *on_fire, bad=20, how="plain", iterations=FOREVER, **popen):
        options = ["--rules", "sonde.toml"]
        for each in on_fire:
            options += ["--on-fire", each]
        return self.run_sonde("/usr/bin/python3", "job.py", bad, how, iterations, options=options, **popen)

    def notes(self):
        return self.rows("SELECT severity, source, text FROM note WHERE source LIKE 'rule %' OR text LIKE '%stopped%'"
                         " ORDER BY id")

    def is_gone(self, name):
        return not alive(int((self.folder / name).read_text()))

    def test_stop_ends_the_job_and_says_why(self):
        done = self.watch("stop")
        self.assertEqual(done.returncode, 123, done.stderr)
        self.assertTrue(self.is_gone("pid"))
        self.assertIn("error loss-not-decreasing fired: rank 0: 'loss' is nan at iteration 20", done.stderr)
        self.assertIn("stopping the job, because the rule loss-not-decreasing fired", done.stderr)
        self.assertEqual(self.notes(), [
            ("error", "rule loss-not-decreasing", "rank 0: 'loss' is nan at iteration 20"),
            ("error", "recorder",
             "the rule loss-not-decreasing stopped the job: rank 0: 'loss' is nan at iteration 20")])
        self.assertEqual(self.rows("SELECT exit_signal FROM process WHERE id = 1"), [(15,)])
        self.assert_nothing_left()

    def test_a_healthy_job_keeps_its_status(self):
        done = self.watch("stop", bad=FOREVER, iterations=150)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual(self.notes(), [])
        self.assertIn("pass", done.stderr)

    def test_without_on_fire_a_finding_is_printed_and_changes_nothing(self):
        done = self.watch(iterations=300)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("error loss-not-decreasing fired: rank 0", done.stderr)
        self.assertEqual(len(self.notes()), 1)

    def captured(self, *options):
        """Whether iterations with these numbers were recorded in full: {number: bool}."""
        done = self.run_sonde("/usr/bin/python3", "job.py", 100, "plain", 800,
                              options=["--rules", "sonde.toml", "--on-fire", "capture:2s", *options])
        self.assertEqual(done.returncode, 7, done.stderr)
        return dict(self.rows("SELECT number, probe_mask <> 0 FROM iteration"))

    def test_capture_records_in_full_after_a_finding_and_stops_again(self):
        for options in (("--delay", "1h"), ("--capture", "every:10000")):
            full = self.captured(*options)
            first = min((number for number, is_full in full.items() if is_full and number > 0), default=None)
            self.assertIsNotNone(first, options)
            self.assertGreater(first, 100, options)
            self.assertGreater(sum(full.values()), 50, options)  # two seconds have some 190
            self.assertFalse(full[799], options)
            self.output.unlink()

    def test_a_wrong_time_of_a_capture_is_refused(self):
        for word in ("capture:soon", "capture:0s", "captures", "capture:-1s"):
            done = self.watch(word)
            self.assertEqual(done.returncode, 125, word)
            self.assertFalse((self.folder / "pid").exists(), word)

    def test_a_warning_stops_nobody(self):
        self.rules("", severity="warning")
        done = self.watch("stop", iterations=300)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual([note[0] for note in self.notes()], ["warning"])

    def test_a_slow_rule_of_the_user_delays_no_other(self):
        slow = ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000000)"
                " SELECT max(i) AS value FROM n")
        self.rules(f'[sql.a-slow-one]\nquery = "{slow}"\nsummary = "slow"\nseverity = "warning"\n')
        done = self.watch(iterations=1500)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual([source for _, source, _ in self.notes()], ["rule loss-not-decreasing", "rule a-slow-one"])

    def test_a_suppressed_finding_stops_nobody(self):
        self.rules('[[suppress]]\nrule = "loss-*"\nreason = "known"\nuntil = 9999-01-01\n')
        done = self.watch("stop", iterations=300)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("suppressed: known", done.stderr)
        self.assertEqual(self.notes(), [])

    def test_who_ignores_sigterm_is_killed_with_all_it_started(self):
        self.rules("[stop]\ngrace_s = 0.5\n")
        done = self.watch("stop", how="stubborn")
        self.assertEqual(done.returncode, 123, done.stderr)
        self.assertIn("did not end within 0.5 s of SIGTERM: it gets SIGKILL", done.stderr)
        self.assertTrue(self.is_gone("pid"))
        self.assertTrue(self.is_gone("child"))

    def test_a_job_behind_a_shell_is_stopped_too(self):
        done = self.run_sonde("sh", "-c", f"/usr/bin/python3 job.py 20 plain {FOREVER}; echo rest",
                              options=["--rules", "sonde.toml", "--on-fire", "stop"])
        self.assertEqual(done.returncode, 123, done.stderr)
        self.assertTrue(self.is_gone("pid"))

    def test_a_checkpoint_is_written_first_by_who_catches_the_signal(self):
        self.rules('[stop]\ncheckpoint_signal = "SIGUSR1"\n')
        done = self.run_sonde("sh", "-c", f"/usr/bin/python3 job.py 20 checkpoint {FOREVER}; exit 5",
                              options=["--rules", "sonde.toml", "--on-fire", "stop"])
        self.assertEqual(done.returncode, 123, done.stderr)
        self.assertEqual((self.folder / "checkpoint").read_text(), "x")
        self.assertEqual(self.rows("SELECT exit_status, exit_signal FROM process WHERE rank = 0 OR pid ="
                                   f" {(self.folder / 'pid').read_text()}"), [(0, None)])

    def test_nobody_writes_a_checkpoint(self):
        self.rules('[stop]\ncheckpoint_signal = "SIGUSR1"\n')
        done = self.watch("stop")
        self.assertEqual(done.returncode, 123, done.stderr)
        self.assertIn("no process of the job catches signal", done.stderr)

    def test_a_command_gets_the_finding(self):
        done = self.watch("exec:cat > 'a finding.json'; echo hello >&2", "stop")
        self.assertEqual(done.returncode, 123, done.stderr)
        finding = json.loads((self.folder / "a finding.json").read_text())
        self.assertEqual((finding["rule"], finding["entity"], finding["verdict"], finding["severity"]),
                         ("loss-not-decreasing", "rank 0", "fired", "error"))
        self.assertIn("hello", done.stderr)

    def test_a_command_outlives_the_stop_and_is_no_process_of_the_job(self):
        done = self.watch("exec:sleep 1; echo x >> done", "stop")
        self.assertEqual(done.returncode, 123, done.stderr)
        self.assertEqual((self.folder / "done").read_text(), "x\n")
        (self.folder / "done").unlink()
        self.output.unlink()
        done = self.watch("exec:sleep 6; echo x >> done", iterations=400)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual((self.folder / "done").read_text(), "x\n")
        self.assertNotIn("still run", done.stderr)

    def test_a_command_that_hangs_is_killed_and_holds_nobody(self):
        done = self.watch("exec:sleep 1000", "exec:touch second", iterations=300)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertTrue((self.folder / "second").exists())
        self.assertIn("the command 'sleep 1000': it did not end in time, and was killed", done.stderr)

    def serve(self, statuses):
        """A web server; what it was sent, and its port. It answers with these statuses, one after the other."""
        bodies = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(statuses[min(len(bodies), len(statuses)) - 1])
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return bodies, server.server_address[1]

    def test_a_webhook_gets_the_finding_at_the_second_try(self):
        bodies, port = self.serve([503, 204])
        done = self.watch(f"webhook:http://127.0.0.1:{port}/x?y=%20", iterations=300)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual([body["rule"] for body in bodies], ["loss-not-decreasing"] * 2)
        self.assertNotIn("the webhook", done.stderr)

    def test_a_webhook_that_refuses_is_named(self):
        bodies, port = self.serve([403])
        done = self.watch(f"webhook:http://127.0.0.1:{port}/secret?token=secret", iterations=300)
        self.assertEqual(len(bodies), 1)
        self.assertIn(f"the webhook http://127.0.0.1:{port}: the server answers with status 403", done.stderr)
        self.assertNotIn("secret", done.stderr)

    def test_a_webhook_that_never_answers_delays_nothing(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            done = self.watch(f"webhook:http://127.0.0.1:{silent.getsockname()[1]}/", "stop")
        self.assertEqual(done.returncode, 123, done.stderr)
        self.assertTrue(self.is_gone("pid"))
        self.assertIn("the webhook", done.stderr)

    def test_mistakes_are_found_before_the_job_starts(self):
        for on_fire, rules, message in (
                (["halt"], "", "--on-fire 'halt': use stop, exec:COMMAND, webhook:URL, capture or capture:TIME"),
                (["exec:"], "", "--on-fire 'exec:'"),
                (["webhook:ftp://a/"], "", "the webhook 'ftp://a/' is no URL"),
                (["stop"], "[stop]\ngrace = 3\n", "sonde.toml:4:1: unknown key 'grace'"),
                (["stop"], "[stop]\ncheckpoint_signal = \"USR1\"\n", "sonde.toml:4:21: a signal is expected"),
                (["stop"], "[stop]\ngrace_s = -1\n", "sonde.toml:4:11: a number of seconds"),
                (["stop"], "[rule]\n", "sonde.toml:3:2: unknown key 'rule'")):
            self.rules(rules)
            done = self.watch(*on_fire)
            self.assertEqual(done.returncode, 125, (on_fire, rules, done.stderr))
            self.assertIn(message, done.stderr)
            self.assertFalse((self.folder / "pid").exists())
        self.rules("")
        for options, message in ((["--on-fire", "stop"], "--on-fire needs rules"),
                                 (["--on-fire", "stop", "--rules", "sonde.toml", "--last", "5s"],
                                  "--on-fire needs rules that judge while the job runs")):
            done = self.run_sonde("/usr/bin/python3", "job.py", 20, "plain", 10, options=options)
            self.assertEqual(done.returncode, 125, done.stderr)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
