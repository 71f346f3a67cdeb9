"""What recording costs: what each trace says of it, what runs with probes off say, and what is taken out of a breakdown."""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from run_support import PATIENCE, SONDE, RunTest, slow, wait_until

# Iterations with so many file calls that recording them takes most of their time.
PROGRAM = """
import os, sonde, sys
file = os.open("file", os.O_RDWR | os.O_CREAT)
with sonde.phase("training"):
    for number in range(int(sys.argv[1])):
        with sonde.iteration(number):
            for _ in range(300):
                os.pwrite(file, b"inside", 0)
            sum(range(1000))
"""
# Continues until the file `enough` exists.
ENDLESS = """
import itertools, os, sonde, time
file = os.open("file", os.O_RDWR | os.O_CREAT)
for number in itertools.count():
    with sonde.iteration(number), sonde.operation("step"):
        os.pwrite(file, b"inside", 0)
        time.sleep(0.005)
    if os.path.exists("enough"):
        break
"""
# So many records within a second that storing them takes longer, and begins before the end.
BURST = """
import sonde
with sonde.iteration(0):
    for _ in range(500_000):
        with sonde.operation("one"):
            pass
"""
OF_METHOD = "SELECT probe, api FROM overhead WHERE method = '{}' ORDER BY 1, 2"


class Overhead(RunTest):
    def setUp(self):
        super().setUp()
        self.environment["XDG_CACHE_HOME"] = str(self.folder / "cache")

    def sonde(self, *arguments):
        return subprocess.run([SONDE, *map(str, arguments)], cwd=self.folder, env=self.environment, capture_output=True,
                              text=True, timeout=4 * PATIENCE, check=False)

    def record(self, count, *options):
        result = self.run_sonde(sys.executable, "-c", PROGRAM, count, options=("-f", *(options if "--sources" in options else ("--sources", "annotation,io", *options))))
        self.assertEqual(result.returncode, 0, result.stderr)

    def breakdown(self, *options):
        result = self.sonde("breakdown", self.output, "--by", "phase", "--format", "json", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def training(self, *options):
        return next(row for row in self.breakdown(*options)["rows"] if row["phase"] == "training")

    def test_each_recording_says_what_loops_found_and_what_is_assumed(self):
        told = {("annotation", "scope in Python"), ("io", "call"), ("io", "open")}
        loops = []
        for _ in range(5):  # what does not show beyond chance is not told
            if told <= set(loops):
                break
            shutil.rmtree(self.folder / "cache", ignore_errors=True)
            self.record(5)
            loops = self.rows(OF_METHOD.format("micro-loop"))
        self.assertLessEqual(told, set(loops))
        self.assertLessEqual({("io", "call"), ("io", "open")}, set(self.rows(OF_METHOD.format("assumed"))))
        self.assertNotIn(("net", "transfer"), loops, "this run does not record it")
        self.assertIn(("torch", "module"), self.rows(OF_METHOD.format("assumed")))
        self.assertEqual(self.rows(OF_METHOD.format("in-run")), [])
        self.assertEqual(self.rows("SELECT value FROM meta WHERE key = 'sources'"), [("annotation,io",)])
        [(beside,)] = self.rows("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'recorder_beside_ppm'")
        self.assertGreater(beside, 0)
        self.assertEqual(self.breakdown()["recorder_share"], beside / 1e6)

    def test_a_later_recording_has_what_the_loops_of_an_earlier_one_found(self):
        costs = "SELECT probe, api, mean_ns, error_ns, before_ns, inside_ns FROM overhead WHERE method = 'micro-loop' ORDER BY 1, 2"
        measured = "SELECT value FROM meta WHERE key = 'costs_measured'"
        self.record(5)
        first = self.rows(costs), self.rows(measured)
        self.assertTrue(first[0])
        self.record(5)
        self.assertEqual((self.rows(costs), self.rows(measured)), first)
        for path in (self.folder / "cache" / "sonde").iterdir():
            path.write_text("{")  # damaged: as if it were not there
        self.record(5)
        self.assertNotEqual(self.rows(costs), first[0])

    def test_what_is_stored_when_the_job_has_ended_is_not_beside_it(self):
        one = str(min(os.sched_getaffinity(0)))  # which the job has for itself as long as it wants it
        result = subprocess.run(["taskset", "-c", one, *self.arguments(sys.executable, "-c", BURST, options=("--spool-limit", "96MiB"))],
                                cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=4 * PATIENCE, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        (beside,), = self.rows("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'recorder_beside_ppm'")
        self.assertLess(beside, 200_000)

    def test_a_run_that_calibrates_itself_leaves_out_what_is_stored_beside_it(self):
        beside = []
        for options in ((), ("--calibrate",)):
            result = self.run_sonde(sys.executable, "-c", BURST + "import time; time.sleep(4)", timeout=4 * PATIENCE,
                                    options=("-f", "--spool-limit", "96MiB", *options))
            self.assertEqual(result.returncode, 0, result.stderr)
            beside += self.rows("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'recorder_beside_ppm'")[0]
        self.assertLess(beside[1], beside[0] / 2, beside)

    def test_a_run_that_still_goes_on_can_be_looked_at(self):
        part = f"{self.output}.part"
        process = self.start_sonde(sys.executable, "-c", ENDLESS, options=("--sources", "annotation,io"))
        try:
            wait_until(lambda: os.path.exists(part) and self.sonde("sql", part, "SELECT 1").returncode == 0 and
                       self.rows("SELECT count(*) FROM iteration WHERE dur_ns > 0", part)[0][0] > 20, "it has iterations")
            for words in (("report", part), ("breakdown", part), ("diff", part, part), ("breakdown", part, "--plot", "a.svg")):
                result = self.sonde(*words)
                self.assertEqual((result.returncode, result.stderr), (0, ""), words)
            found = json.loads(self.sonde("breakdown", part, "--format", "json").stdout)
            self.assertEqual(sum(row["ns"] for row in found["rows"]), found["total_ns"])
            self.assertFalse(found["corrected"], "what recording costs is known when it has ended")
            self.assertIn("unfinished recording", self.sonde("report", part).stdout)
        finally:
            (self.folder / "enough").touch()
            self.assertEqual(process.wait(PATIENCE), 0, process.stderr.read())
            process.stderr.close()

    def test_a_breakdown_has_times_without_what_recording_cost_and_their_interval(self):
        self.record(200)
        row = self.training()
        self.assertLess(row["ns"], row["raw_ns"])
        self.assertLess(row["low_ns"], row["ns"])
        self.assertLess(row["ns"], row["high_ns"])
        raw = self.training("--raw")
        self.assertEqual({raw[key] for key in ("ns", "raw_ns", "low_ns", "high_ns")}, {row["raw_ns"]})
        both = self.breakdown()
        self.assertTrue(both["corrected"])
        self.assertEqual(sum(each["ns"] for each in both["rows"]), both["total_ns"])
        self.assertEqual(sum(each["raw_ns"] for each in both["rows"]), both["raw_total_ns"])

    def test_a_run_that_calibrates_itself_says_what_its_probes_cost(self):
        for _ in range(6):  # while the machine was too busy to learn more than loops know
            self.record(400, "--calibrate=10")
            if self.rows(OF_METHOD.format("in-run")):
                break
        self.assertEqual(self.rows(OF_METHOD.format("in-run")), [("io", "call"), ("io", "open")])
        [(mean, error)] = self.rows("SELECT mean_ns, error_ns FROM overhead WHERE method = 'in-run' AND api = 'call'")
        self.assertLess(mean, 20_000)
        self.assertGreater(error, 0)
        self.assertEqual(self.rows("SELECT probe, other_probe FROM overhead_covariance"), [("io", "io")])
        found = self.breakdown()
        self.assertGreater(found["masked_ns"], 0)
        self.assertLess(found["masked_ns"], found["raw_total_ns"])

    def test_a_run_that_was_too_short_to_calibrate_itself_says_so(self):
        self.record(25, "--calibrate=10")
        self.assertEqual(self.rows(OF_METHOD.format("in-run")), [])
        [(note,)] = self.rows("SELECT text FROM note WHERE source = 'calibration'")
        self.assertIn("too few", note)

    # Long enough for a result on a busy machine.
    def calibrate(self, *arguments, count=1000, options=("--sources", "annotation,io", "--rounds", "5")):
        return self.sonde("calibrate", *options, *arguments, "--", sys.executable, "-c", PROGRAM, count)

    @slow
    def test_runs_with_probes_off_say_what_these_cost(self):
        for _ in range(3):  # while the machine was too busy to learn more than loops know
            result = self.calibrate("-f", "-o", "cost.json")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("An iteration takes", result.stdout)
            cost = json.loads((self.folder / "cost.json").read_text())
            if cost["overhead"]:
                break
        self.assertEqual({row["probe"] for row in cost["overhead"]}, {"io"})
        self.assertEqual(cost["probes"], ["io"])
        self.assertEqual(cost["runs"], 10)
        self.assertEqual(cost["sources"], "annotation,io")
        self.record(100)
        found = self.breakdown("--overhead", "cost.json")
        self.assertIn("separate runs", {row["method"] for row in found["overhead"]})

    @slow
    def test_runs_end_when_the_cost_is_known_as_well_as_was_asked_for(self):
        for precision, runs in (("1e9", 10), ("1e-9", 12)):  # two kinds of run; five rounds at least, six at most
            options = ("--sources", "annotation,io", "--rounds", "6", "--precision", precision)
            result = self.calibrate("-f", "-o", "cost.json", count=200, options=options)
            self.assertEqual(result.returncode, 0, result.stderr)
            costs = json.loads((self.folder / "cost.json").read_text())
            self.assertEqual(costs["runs"], runs)
            self.assertEqual(costs["precision"]["is_enough"], precision == "1e9", costs["precision"])
            self.assertAlmostEqual(costs["precision"]["asked"] * 100 / float(precision), 1)
            self.assertGreater(costs["precision"]["reached"], 0)
            said = [line for line in result.stderr.splitlines(True) if "holds no costs" not in line]
            self.assertEqual(len(said) < len(result.stderr.splitlines()), not costs["overhead"], result.stderr)
            self.assertEqual(re.sub(r"is \S+ % of", "is N % of", "".join(said)), "" if precision == "1e9" else
                             "sonde calibrate: after 6 rounds the standard error is N % of an iteration, and --precision asks for 1e-09 %: "
                             "make more rounds (--rounds) or longer runs, or use a quieter machine\n")
        for wrong in ("0", "-1", "little"):
            self.assertEqual(self.sonde("calibrate", "--precision", wrong, "--", "/bin/true").returncode, 2)

    def test_what_was_found_is_shown_though_the_file_cannot_be_written_any_more(self):
        (self.folder / "gone").mkdir()
        removing = PROGRAM + "import shutil; shutil.rmtree('gone', ignore_errors=True)\n"
        result = self.sonde("calibrate", "--sources", "annotation,io", "--rounds", "3", "-o", "gone/cost.json", "--",
                            sys.executable, "-c", removing, 60)
        self.assertEqual(result.returncode, 3)
        self.assertIn("gone/cost.json", result.stderr)
        self.assertIn("An iteration takes", result.stdout)

    @slow
    def test_costs_hold_for_the_same_probes_and_build_alone(self):
        result = self.calibrate("-o", "cost.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.record(20, "--sources", "annotation,io,net")
        result = self.sonde("breakdown", self.output, "--overhead", "cost.json")
        self.assertEqual(result.returncode, 2)
        self.assertIn("annotation,io", result.stderr)
        self.record(20)
        cost = json.loads((self.folder / "cost.json").read_text())
        for key in ("build", "cpu_model"):
            (self.folder / "other.json").write_text(json.dumps(dict(cost, **{key: "another"})))
            result = self.sonde("breakdown", self.output, "--overhead", "other.json")
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("measure again", result.stderr)

    def test_a_file_that_is_none_of_costs_is_refused(self):
        self.record(5)
        for text in ("", "[]", "{}", '{"sources": 3}'):
            (self.folder / "cost.json").write_text(text)
            result = self.sonde("breakdown", self.output, "--overhead", "cost.json")
            self.assertEqual(result.returncode, 3, text)
            self.assertIn("cost.json", result.stderr)
            self.assertNotIn("cannot use at()", result.stderr)
        self.assertEqual(self.sonde("breakdown", self.output, "--overhead", "absent.json").returncode, 3)

    def test_a_command_that_cannot_be_calibrated_is_told_so(self):
        failing = self.sonde("calibrate", "--", sys.executable, "-c", "import sys; sys.exit('no data')")
        self.assertEqual(failing.returncode, 3)
        self.assertIn("no data", failing.stderr)
        silent = self.sonde("calibrate", "--", "/bin/false")
        self.assertIn("/bin/false ended with status 1: run it without Sonde", silent.stderr)
        few = self.calibrate(count=5)
        self.assertEqual(few.returncode, 3)
        self.assertIn("iterations", few.stderr)
        nothing = self.sonde("calibrate", "--sources", "annotation", "--", sys.executable, "-c", PROGRAM + "open('runs', 'a').write('.')", 60)
        self.assertEqual(nothing.returncode, 3)
        self.assertIn("nothing but its own annotations", nothing.stderr)
        self.assertEqual((self.folder / "runs").read_text(), ".", "it is said after the first run")
        self.assertEqual(self.sonde("calibrate").returncode, 2)
        wrong = self.sonde("calibrate", "--sources", "foo", "--", "/bin/sh", "-c", "touch begun")
        self.assertEqual((wrong.returncode, wrong.stdout), (2, ""))
        self.assertIn("'foo'", wrong.stderr)
        self.assertFalse((self.folder / "begun").exists())
        (self.folder / "cost.json").write_text("mine")
        for output, status in (("cost.json", 2), ("absent/cost.json", 3)):
            early = self.sonde("calibrate", "-o", output, "--", "/bin/sh", "-c", "touch begun")
            self.assertEqual((early.returncode, early.stdout), (status, ""), early.stderr)
            self.assertIn(output, early.stderr)
            self.assertFalse((self.folder / "begun").exists(), "it is said before the first run")
        self.assertEqual((self.folder / "cost.json").read_text(), "mine")
        few = self.sonde("calibrate", "--rounds", "2", "--", "/bin/true")
        self.assertEqual((few.returncode, few.stdout), (2, ""))
        self.assertIn("3", few.stderr)


if __name__ == "__main__":
    unittest.main()
