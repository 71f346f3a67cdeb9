"""What `sonde run` leaves: the job's own output untouched, a trace by the right name, nothing else."""
import hashlib
import os
import pathlib
import shutil
import socket
import subprocess
import unittest

from run_support import SONDE, TARGETS, RunTest, kill_quietly, wait_until

NOISE = "import os, sys; os.write(1, bytes(range(256)) * 4096); sys.stderr.write('own words\\n')"


class Output(RunTest):
    def test_stdout_is_the_jobs_byte_for_byte(self):
        result = self.run_sonde("python3", "-c", NOISE, text=False)
        self.assertEqual(hashlib.sha256(result.stdout).hexdigest(),
                         hashlib.sha256(bytes(range(256)) * 4096).hexdigest())
        self.assertTrue(result.stderr.startswith(b"own words\n"))

    def test_stdin_is_the_jobs(self):
        self.assertEqual(self.run_sonde("cat", input="through\n").stdout, "through\n")

    def test_the_last_line_names_the_trace_and_the_next_command(self):
        result = self.run_sonde("true")
        self.assertEqual(result.stderr.splitlines()[-1],
                         "sonde run: wrote out.sonde: next: sonde report out.sonde")
        self.assert_nothing_left()

    def test_the_next_command_is_quoted_for_a_shell(self):
        result = self.run_sonde("true", options=("-o", "o u t.sonde"), output=False)
        self.assertEqual(result.stderr.splitlines()[-1],
                         "sonde run: wrote o u t.sonde: next: sonde report 'o u t.sonde'")
        merged = subprocess.run([SONDE, "merge", "-o", "a job.sonde", "o u t.sonde", "--summary", "m.json"],
                                cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertRegex(merged.stdout, "^merged 1 trace into a job.sonde: 1 process, 0 slices, 0 collectives, "
                                        "0 transfers\nnext: sonde report 'a job.sonde'\n$")
        self.assertEqual(self.summary(self.folder / "m.json")["path"], str(self.folder / "a job.sonde"))

    def test_a_folder_that_is_moved_away_and_back(self):
        place, away = self.folder / "place", self.folder / "away"
        result = self.run_sonde("sh", "-c", f"sleep 0.6; mv {place} {away}; sleep 0.6",
                                options=("-o", place / "t.sonde"), output=False)
        self.assertEqual(result.returncode, 0)
        session, = self.spool.glob("sonde-*/*")
        self.assertRegex(result.stderr, fr"^sonde run: {place}/t.sonde.part is gone \(.*\): move it back, "
                                        fr"with its -wal, then finish the trace with sonde recover {session}; or ")
        shutil.rmtree(place, ignore_errors=True)
        away.rename(place)
        result = self.recover(session)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.rows("SELECT count(*) FROM process WHERE command LIKE 'sleep%'", place / "t.sonde"), [(2,)])
        self.assert_nothing_left()

    def test_the_name_without_o(self):
        self.run_sonde("sh", "-c", "echo $$ > pid", output=False)
        pid = (self.folder / "pid").read_text().strip()
        self.assertTrue((self.folder / f"sh-{pid}.sonde").exists(), list(self.folder.iterdir()))

    def test_the_name_by_a_pattern(self):
        pattern = "deep/er/%h-%p-%r-%q{KIND}-%%.sonde"
        self.run_sonde("sh", "-c", "echo $$ > pid", options=("-o", pattern), output=False,
                       env={"RANK": "3", "WORLD_SIZE": "4", "KIND": "k"})
        pid = (self.folder / "pid").read_text().strip()
        self.assertTrue((self.folder / f"deep/er/{socket.gethostname()}-{pid}-3-k-%.sonde").exists())

    def test_a_folder_gets_one_trace_a_rank(self):
        for rank in "01":
            result = self.run_sonde("true", options=("-o", "run/"), output=False,
                                    env={"RANK": rank, "WORLD_SIZE": "2"})
        self.assertEqual(sorted(os.listdir(self.folder / "run")), ["rank0.sonde", "rank1.sonde"])
        self.assertIn("sonde merge", result.stderr.splitlines()[-1])

    def test_force_replaces_a_trace(self):
        self.output.write_text("old")
        self.assertEqual(self.run_sonde("true", options=("-f",)).returncode, 0)
        self.assertTrue(self.output.read_bytes().startswith(b"SQLite format 3"))

    def test_one_of_two_runs_gets_the_name(self):
        for _ in range(8):  # how close together they ask is up to the machine
            runs = [self.start_sonde("sleep", "0.3") for _ in range(2)]
            said = [run.communicate(timeout=60)[1] for run in runs]
            self.assertEqual(sorted(run.returncode for run in runs), [0, 125], said)
            self.assert_nothing_left()
            self.output.unlink()

    def without_a_place(self, *options):
        """Runs a job where no folder is fit for a spool. The test's own folder and the build, which may be in /tmp, are below /mnt."""
        build = TARGETS.parent.parent
        _, *arguments = self.arguments("sh", "-c", "echo done; exit 3", options=("-o", "t.sonde", *options), output=False)
        return self.in_namespace(
            "mount -t tmpfs sonde /mnt && mkdir /mnt/build /mnt/here && "
            f"mount --bind '{build}' /mnt/build && mount --bind '{self.folder}' /mnt/here && "
            'mount -t proc proc /tmp && mount -t proc proc /var/tmp && cd /mnt/here && exec "$@"',
            "/mnt/build/bin/sonde", *arguments, SONDE_SPOOL="/proc", TMPDIR="/tmp")

    def test_an_unrecorded_run_leaves_no_part(self):
        result = self.without_a_place()
        self.assertEqual((result.returncode, result.stdout), (3, "done\n"), result.stderr)
        self.assertRegex(result.stderr, r"^sonde run: not recording: /proc: proc .*: name a folder on a local disk "
                                        r"with --spool\n$")
        self.assertEqual(list(self.folder.glob("t.sonde*")), [])

    def test_the_summary_of_an_unrecorded_run(self):
        file = self.folder / "s.json"
        file.write_text("of an earlier run")
        self.without_a_place("--summary", "s.json")
        summary = self.summary(file)
        self.assertGreater(summary.pop("seconds"), 0)
        self.assertRegex(summary.pop("notes")[0], "^/proc: proc .* --spool$")
        self.assertEqual(summary, {"schema": 1, "events": {}, "dropped": {}, "path": None, "recorder": None, "calibration": None,
                                   "exit_status": 3})

    def test_a_run_that_cannot_begin_leaves_the_summary_as_it_is(self):
        file = self.folder / "s.json"
        self.assertEqual(self.run_sonde("/no/such/program", options=("--summary", "s.json")).returncode, 127)
        self.assertEqual(list(self.folder.glob("s.json*")), [])
        file.write_text("of an earlier run")
        self.assertEqual(self.run_sonde("/no/such/program", options=("--summary", "s.json")).returncode, 127)
        self.assertEqual(file.read_text(), "of an earlier run")

    def test_a_summary_may_go_into_a_pipe_or_through_a_link(self):
        (self.folder / "s.json").write_text("of an earlier run")
        (self.folder / "link.json").symlink_to("s.json")
        self.run_sonde("true", options=("--summary", "link.json"))
        self.assertEqual(self.summary(self.folder / "s.json")["exit_status"], 0)
        self.assertTrue((self.folder / "link.json").is_symlink())
        (self.folder / "dangling.json").symlink_to("made.json")
        self.run_sonde("true", options=("-f", "--summary", "dangling.json"))
        self.assertEqual(self.summary(self.folder / "made.json")["exit_status"], 0)
        self.assertTrue((self.folder / "dangling.json").is_symlink())
        result = self.run_sonde("true", options=("-f", "--summary", "/dev/stdout"))
        self.assertIn('"exit_status": 0', result.stdout)
        self.assertEqual(list(self.folder.glob("s.json?*")), [])

    def test_a_summary_into_the_jobs_output_comes_after_it(self):
        log = self.folder / "log.txt"
        job = ("sh", "-c", "echo important; echo words >&2")
        for stream, said in (("stdout", "important"), ("stderr", "words")):
            for name in (f"/dev/{stream}", log):
                with self.subTest(stream=stream, name=name), open(log, "w") as out:
                    subprocess.run(self.arguments(*job, options=("-f", "--summary", name)), env=self.environment,
                                   cwd=self.folder, timeout=60, check=True,
                                   **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: out})
                    print("after", file=out)
                    out.flush()
                    self.assertRegex(log.read_text(), f'^{said}\n(?s:.*)"exit_status": 0(?s:.*)\nafter\n$')

    def test_a_summary_leaves_what_is_beside_it(self):
        names = [f"s.json{end}" for end in (".part", ".tmp", "~")]
        for name in names:
            (self.folder / name).write_text("precious")
        self.run_sonde("true", options=("--summary", "s.json"))
        self.assertEqual(self.summary(self.folder / "s.json")["exit_status"], 0)
        self.assertEqual([(self.folder / name).read_text() for name in names], ["precious"] * len(names))
        self.assertEqual(sorted(os.listdir(self.folder)), sorted([*names, "out.sonde", "s.json", "spool"]))

    def test_a_summary_in_place_of_the_trace_is_refused(self):
        (self.folder / "link.json").symlink_to("out.sonde")
        for name in ("out.sonde", "out.sonde.part", "./spool/../out.sonde.part-wal", "link.json"):
            result = self.run_sonde("touch", "ran", options=("--summary", name))
            self.assertEqual(result.returncode, 125, name)
            self.assertRegex(result.stderr, fr"the summary {name} is the trace's own file .*: give another name")
        self.assertEqual(sorted(os.listdir(self.folder)), ["link.json", "spool"])

    def test_a_summary_in_a_folder_that_may_not_be_written(self):
        place = self.folder / "place"
        place.mkdir()
        (place / "s.json").write_text("of an earlier run")
        result = self.in_namespace(f'touch s.json && mount --bind {place} {place} && '
                                   f'mount --bind s.json {place}/s.json && '
                                   f'mount -o remount,bind,ro {place} && "$@"; cat {place}/s.json',
                                   *self.arguments("true", options=("--summary", place / "s.json")))
        self.assertIn('"exit_status": 0', result.stdout, result.stderr)

    def killed_recording(self):
        """Leaves the session of a recorder that was killed, and its unfinished trace; returns the session's folder."""
        recorder = self.start_sonde("sleep", "60")
        part = self.folder / "out.sonde.part"
        sessions = lambda: list(self.spool.glob("sonde-*/*/manifest.json"))
        wait_until(lambda: part.exists() and part.stat().st_size > 0 and sessions(), "it records")
        children = pathlib.Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children")
        job = [int(pid) for pid in children.read_text().split()]
        recorder.kill()
        for pid in job:
            kill_quietly(pid)
        recorder.communicate()
        return sessions()[0].parent

    def recover(self, *arguments):
        return subprocess.run([SONDE, "recover", *map(str, arguments)], env=self.environment, cwd=self.folder,
                              capture_output=True, text=True, timeout=60)

    def test_force_drops_the_session_of_the_unfinished_trace(self):
        session = self.killed_recording()
        self.assertIn(f"sonde recover {session}, or", self.run_sonde("true").stderr)
        self.assertEqual(self.run_sonde("true", options=("-f",)).returncode, 0)
        trace = self.output.read_bytes()
        self.assertFalse(session.exists())
        self.recover()
        self.assertEqual(self.output.read_bytes(), trace)
        self.assert_nothing_left()

    def test_recover_says_what_it_has_written(self):
        self.killed_recording()
        said = rf"{self.output}: \d+ process(?:es)?, \d+ slices, \d+ lost records\nnext: sonde report {self.output}\n"
        result = self.recover("out.sonde.part")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, f"^{said}$")
        self.assert_nothing_left()
        others = [session for place in ("/tmp", "/var/tmp")
                  for session in pathlib.Path(place).glob(f"sonde-{os.geteuid()}/*/session")]
        result = self.recover()
        self.assertNotIn(str(self.folder), result.stdout + result.stderr)
        if not others:
            self.assertEqual((result.returncode, result.stdout), (0, "nothing to recover\n"), result.stderr)

    def test_a_place_that_was_named_but_cannot_be_used_is_said(self):
        why = "spool in /.*: /proc: proc cannot guarantee allocated space for a mapping\n"
        self.assertRegex(self.run_sonde("true", options=("--spool", "/proc")).stderr, f"^sonde run: {why}")
        self.assertRegex(self.run_sonde("true", options=("-f",), env={"SONDE_SPOOL": "/proc"}).stderr,
                         f"^sonde run: {why}")
        self.assertNotIn("spool in", self.run_sonde("true", options=("-f",), env={"TMPDIR": "/proc"}).stderr)

    def test_recover_keeps_the_trace_of_another_run(self):
        session = self.killed_recording()
        (self.folder / "out.sonde.part").unlink()  # by hand
        self.assertEqual(self.run_sonde("true").returncode, 0)
        trace = self.output.read_bytes()
        result = self.recover()
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("-o OTHER", result.stderr)
        self.assertEqual(self.output.read_bytes(), trace)
        self.assertEqual(self.recover(session, "-o", "other.sonde").returncode, 0)
        self.assertEqual(self.recover(session, "-f").returncode, 0)
        self.assertNotEqual(self.output.read_bytes(), trace)
        self.assert_nothing_left()

    def test_the_summary_file(self):
        self.run_sonde("sh", "-c", "kill -15 $$", options=("--summary", "s.json"))
        summary = self.summary(self.folder / "s.json")
        self.assertEqual(summary["path"], str(self.output))
        self.assertEqual(summary["exit_status"], -15)
        self.assertGreater(summary["seconds"], 0)
        self.assertGreater(summary["recorder"]["cpu_s"], 0)
        self.assertIn("events", summary)
        self.assertIn("dropped", summary)

    def test_a_summary_that_cannot_be_written_is_said_before_the_job(self):
        result = self.run_sonde("touch", self.folder / "ran", options=("--summary", "/nowhere/s.json"))
        self.assertEqual(result.returncode, 125)
        self.assertIn("cannot write the summary /nowhere/s.json", result.stderr)
        self.assertFalse((self.folder / "ran").exists())

    def test_sizes_that_hold_nothing_are_refused(self):
        for option, size in (("--spool-limit", "0"), ("--max-size", "0"), ("--max-size", "1000kB")):
            result = self.run_sonde("true", options=(option, size))
            self.assertEqual(result.returncode, 125, (option, size))
            self.assertIn(f"{size} is too small", result.stderr)

    def test_merging_a_trace_with_itself_is_refused(self):
        self.run_sonde("sh", "-c", "true")
        copy = self.folder / "copy.sonde"
        shutil.copy(self.output, copy)
        for other in (self.output, copy):
            merged = subprocess.run([SONDE, "merge", "-o", self.folder / "m.sonde", self.output, other],
                                    capture_output=True, text=True, timeout=60)
            self.assertEqual(merged.returncode, 3, merged.stderr)
            self.assertIn("hold the same processes: give each trace once", merged.stderr)

    def test_the_host_is_described(self):
        self.run_sonde("true")
        ((cpu, count),) = self.rows("SELECT cpu_model, cpu_count FROM host")
        names = [line.split(": ")[1] for line in open("/proc/cpuinfo") if line.startswith("model name")]
        self.assertEqual(cpu, names[0].rstrip("\n") if names else None)
        self.assertGreaterEqual(count, os.cpu_count())

    def test_the_main_process_is_in_the_trace(self):
        self.run_sonde("sh", "-c", "exit 5", "--api-key", "abc", env={"RANK": "1", "WORLD_SIZE": "2"})
        rows = self.rows("SELECT command, rank, world_size, exit_status FROM process WHERE parent_id IS NULL")
        self.assertEqual(rows, [("sh -c exit 5 --api-key [redacted]", 1, 2, 5)])

    def test_how_the_main_process_ended_is_in_the_trace(self):
        query = "SELECT exit_status, exit_signal, state, end_ns - start_ns >= 200000000 FROM process WHERE parent_id IS NULL"
        self.run_sonde("sh", "-c", "sleep 0.2; exit 255")
        self.assertEqual(self.rows(query), [(255, None, "exited", 1)])
        self.run_sonde("sh", "-c", "sleep 0.2; kill -15 $$", options=("-f",))
        self.assertEqual(self.rows(query), [(143, 15, "signalled", 1)])

    def test_what_recording_cost_is_in_the_trace(self):
        self.run_sonde("true")
        meta = dict(self.rows("SELECT key, value FROM meta"))
        for key in ("recorder_cpu_ns", "recorder_rss_bytes"):
            self.assertGreater(int(meta[key]), 0)
        self.assertIn("recorder_bytes", meta)

    def test_the_cost_in_the_trace_is_that_of_the_summary(self):
        self.run_sonde("true", options=("--summary", "s.json"))
        said = self.summary(self.folder / "s.json")["recorder"]
        meta = dict(self.rows("SELECT key, value FROM meta"))
        self.assertEqual(int(meta["recorder_cpu_ns"]) / 1e9, said["cpu_s"])
        self.assertEqual(int(meta["recorder_rss_bytes"]), said["rss_bytes"])

    def assert_redacted(self, result, times):
        self.assertEqual(result.returncode, 0, result.stderr)
        stored = self.output.read_bytes()
        self.assertNotIn(b"s3cr3t", stored)
        (command,), = self.rows("SELECT command FROM process WHERE parent_id IS NULL ORDER BY id LIMIT 1")
        self.assertEqual(command.count("[redacted]"), times, command)

    def test_secrets_are_stored_nowhere(self):
        result = self.run_sonde("sh", "-c", "sleep 0; true", "--token", "s3cr3t-1", options=("--redact", "my-*"),
                                env={"NCCL_TOKEN": "s3cr3t-2", "TORCH_X": "my-s3cr3t-3"})
        self.assert_redacted(result, 1)
        self.assertIn(b"TORCH_X", self.output.read_bytes())

    def test_secrets_inside_an_argument_are_stored_nowhere(self):
        result = self.run_sonde("bash", "-c", "sh -c 'sleep 0; true --token=s3cr3t-1' x; true",
                                "Authorization: Bearer s3cr3t-2", "--header=X-Api-Key: s3cr3t-3", '{"password":"s3cr3t-4"}')
        self.assert_redacted(result, 4)

    def test_descriptors_of_the_recorder_do_not_reach_the_job(self):
        result = self.run_sonde("sh", "-c", "ls -l /proc/self/fd", close_fds=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r" 0 -> .*\n.* 1 -> .*\n.* 2 -> ")
        for name in ("signalfd", "inotify", "eventfd", ".part", "lock", "manifest"):
            self.assertNotIn(name, result.stdout)


if __name__ == "__main__":
    unittest.main()
