"""`sonde run --calibrate`: which probes are off in which iterations, what is recorded of them, and what is counted instead."""
import json
import sys
import unittest

from calibrate_support import bits, mask_of
from python_support import PYTHON, PythonTest
from run_support import RunTest

# All iterations make the same number of calls of each kind, on two threads.
PROGRAM = """
import os, sonde, sys, threading
first, count = int(sys.argv[1]), int(sys.argv[2])
read, write = os.pipe()
file = os.open("file", os.O_RDWR | os.O_CREAT)
def talk(turns):
    for _ in range(turns):
        os.write(write, b"12345678")
        os.read(read, 8)
with sonde.phase("training"):
    for number in range(first, first + count):
        os.pwrite(file, b"between", 0)
        with sonde.iteration(number):
            with sonde.operation("step"):
                talk(3)
                for _ in range(2):
                    os.pwrite(file, b"inside", 0)
                thread = threading.Thread(target=talk, args=(1,))
                thread.start()
                thread.join()
"""
ASKED = ("annotation", "net", "io")
BLOCK = 5
COUNT = 41 * BLOCK  # among them are blocks with each of both probes alone
MASKS = "SELECT number, probe_mask FROM iteration ORDER BY number"
# A probe's records inside each iteration, by time.
INSIDE = """SELECT i.number, count(r.start_ns) FROM iteration i LEFT JOIN ({}) r
    ON r.start_ns BETWEEN i.start_ns AND i.start_ns + i.dur_ns GROUP BY i.number ORDER BY i.number"""
TRANSFERS = "SELECT start_ns FROM transfer WHERE bytes = 8"
WRITES = "SELECT start_ns FROM v_slice WHERE kind = 'io' AND name = 'pwrite'"


class Calibrate(RunTest):
    def record(self, *options, first=0, count=COUNT, **environment):
        result = self.run_sonde(sys.executable, "-c", PROGRAM, first, count, env=environment,
                                options=("-f", "--sources", ",".join(ASKED), *options))
        self.assertEqual(result.returncode, 0, result.stderr)

    def masks(self, first=0, count=COUNT, job=""):
        return [(number, mask_of(number, BLOCK, ASKED, job)) for number in range(first, first + count)]

    def calls(self, probe):
        return self.rows(f"SELECT number, recorded, unrecorded FROM iteration i JOIN probe_call ON iteration_id = i.id WHERE "
                         f"probe = '{probe}' AND api = '' ORDER BY number")

    def test_iterations_say_which_probes_were_on_and_have_what_these_record(self):
        self.record(f"--calibrate={BLOCK}")
        self.assertEqual(self.rows(MASKS), self.masks())
        self.assertEqual(self.rows("SELECT value FROM meta WHERE key = 'calibrate'"), [(str(BLOCK),)])
        kinds = {mask & bits("net", "io") for _, mask in self.masks()}
        self.assertEqual(len(kinds), 4, "each of two probes is on and off with and without the other")
        for probe, inside, each in (("net", TRANSFERS, 8), ("io", WRITES, 2)):
            is_on = [(number, bool(mask & bits(probe))) for number, mask in self.masks()]
            self.assertEqual(self.rows(INSIDE.format(inside)), [(number, each * on) for number, on in is_on])
            self.assertEqual(self.calls(probe), [(number, each if on else 0, 0 if on else each) for number, on in is_on])
        self.assertEqual(self.calls("annotation"), [(number, 1, 0) for number in range(COUNT)])
        self.assertEqual(self.rows("SELECT count(*) FROM probe_call WHERE iteration_id IS NULL OR thread_id IS NULL"), [(0,)])

    def test_the_last_lines_say_what_came_of_it(self):
        for count, said in ((COUNT, r"recording takes -?\d+\.\d % ± \d+\.\d % of an iteration( \(|; the run could not improve on these known costs .*: )(net|io) "),
                            (BLOCK, f"could not be measured: all probes were on in all {BLOCK} iterations")):
            result = self.run_sonde(sys.executable, "-c", PROGRAM, 0, count, options=(
                "-f", "--sources", ",".join(ASKED), f"--calibrate={BLOCK}", "--summary", self.folder / "summary.json"))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stderr, said)
            found = json.loads((self.folder / "summary.json").read_text())["calibration"]
            if count == BLOCK:
                self.assertIn(found["reason"], result.stderr)
                continue
            self.assertIsNone(found["reason"])
            self.assertEqual({probe["probe"] for probe in found["probes"]}, {"net", "io"})
            self.assertAlmostEqual(found["overhead_ns"], sum(probe["ns"] for probe in found["probes"]), delta=2)
            kept, = self.rows("SELECT value FROM meta WHERE key = 'calibrated'")
            self.assertAlmostEqual(json.loads(kept[0])["overhead_ns"], found["overhead_ns"], delta=0.51)

    def test_nothing_else_is_different(self):
        self.record(f"--calibrate={BLOCK}")
        self.assertEqual(self.rows("SELECT kind, count(*), count(dur_ns), count(DISTINCT parent_id), max(lane) FROM slice s WHERE "
                                   "category = 'annotation' GROUP BY kind ORDER BY kind"),
                         [("iteration", COUNT, COUNT, 1, 0), ("operation", COUNT, COUNT, COUNT, 0), ("phase", 1, 1, 0, 0)])
        self.assertEqual(self.rows("SELECT count(*) FROM v_slice s WHERE kind = 'io' AND name = 'pwrite' AND NOT EXISTS (SELECT 1 "
                                   "FROM iteration i WHERE s.start_ns BETWEEN i.start_ns AND i.start_ns + i.dur_ns)"), [(COUNT,)],
                         "between iterations all probes are on")
        self.assertEqual(self.rows("SELECT * FROM loss"), [])
        # Values that both ends count are counted even while nothing is recorded, so the offsets of later transfers fit.
        self.assertEqual(self.rows("SELECT count(*), sum(exact) = count(*) FROM transfer WHERE bytes = 8 AND offset % 8 = 0 AND "
                                   f"offset < {COUNT * 4 * 8}")[0][1], 1)
        (last,), = self.rows("SELECT max(offset) FROM transfer WHERE bytes = 8")
        on = [number for number, mask in self.masks() if mask & bits("net")]
        self.assertEqual(last, (on[-1] + 1) * 4 * 8 - 8)

    def test_ranks_of_a_job_switch_alike_and_others_do_not(self):
        found = []
        for environment in ({"SLURM_JOB_ID": "7", "RANK": "0"}, {"SLURM_JOB_ID": "7", "RANK": "1"}, {"SLURM_JOB_ID": "8"}):
            self.record(f"--calibrate={BLOCK}", **environment)
            found.append(self.rows(MASKS))
        self.assertEqual(found[0], self.masks(job="slurm:7"))
        self.assertEqual(found[0], found[1])
        self.assertNotEqual(found[0], found[2])

    def test_the_programs_own_numbers_decide(self):
        self.record(f"--calibrate={BLOCK}", first=1000)
        self.assertEqual(self.rows(MASKS), self.masks(first=1000))

    def test_blocks_are_of_ten_and_only_when_asked_for(self):
        self.record("--calibrate")
        self.assertEqual(self.rows(MASKS), [(number, mask_of(number, 10, ASKED)) for number in range(COUNT)])
        self.record()
        self.assertEqual(self.rows("SELECT DISTINCT probe_mask FROM iteration"), [(bits(*ASKED, "process"),)])
        self.assertEqual(self.rows("SELECT * FROM probe_call UNION ALL SELECT key, value, 0, 0, 0, 0 FROM meta WHERE key = "
                                   "'calibrate'"), [])

    def test_recorded_in_part_iterations_in_outline_have_no_mask(self):
        self.record(f"--calibrate={BLOCK}", "--capture", "every:3")
        self.assertEqual(self.rows(MASKS), [(number, 0 if number % 3 else mask) for number, mask in self.masks()])
        self.assertEqual([number for number, *_ in self.calls("net")], list(range(0, COUNT, 3)))

    def test_a_flight_recorder_keeps_the_masks(self):
        self.record(f"--calibrate={BLOCK}", "--last", "60s")
        self.assertEqual(self.rows(MASKS), self.masks())
        self.assertEqual(self.rows("SELECT value FROM meta WHERE key = 'calibrate'"), [(str(BLOCK),)])

    def test_what_cannot_be_is_refused_before_the_command_begins(self):
        for options, said in ((("--calibrate=4",), "--calibrate"), (("--calibrate=x",), "--calibrate"),
                              (("--calibrate", "--capture", "range:a"), "--capture iterations:A-B"),
                              (("--calibrate", "--sources", "annotation"), "no probe to switch off")):
            result = self.run_sonde("touch", self.folder / "ran", options=options)
            self.assertEqual(result.returncode, 125, options)
            self.assertIn(said, result.stderr)
        self.assertFalse((self.folder / "ran").exists())


# Native calls and a large block in each iteration; one more of each between two iterations.
NATIVE = """
import sonde, sys, toysim
for number in range(int(sys.argv[1])):
    toysim.nothing()
    block = bytearray(200_000)
    del block
    with sonde.iteration():
        for _ in range(5):
            toysim.nothing()
        with sonde.iteration():  # inside of another one it decides nothing
            toysim.nothing()
        block = bytearray(300_000)
        del block
"""


class CalibratePython(PythonTest):
    ASKED = ("annotation", "python", "memory")

    def setUp(self):
        super().setUp()
        self.record(PYTHON, "-c", NATIVE, COUNT // 2, sources=",".join(self.ASKED), more=(f"--calibrate={BLOCK}",))
        # Every second iteration is inside the one before it, and is numbered after it.
        self.on = {probe: [bool(mask_of(2 * number, BLOCK, self.ASKED) & bits(probe)) for number in range(COUNT // 2)]
                   for probe in self.ASKED}

    def calls(self, probe):
        return self.rows(f"SELECT recorded, unrecorded FROM iteration i JOIN probe_call ON iteration_id = i.id WHERE probe = '{probe}' "
                         "ORDER BY number")

    def test_native_functions_pass_counted(self):
        on = self.on["python"]
        self.assertEqual(self.calls("python"), [(6 * one, 6 - 6 * one) for one in on])
        self.assertEqual(self.rows("SELECT number / 2, count(s.id) FROM iteration i LEFT JOIN v_slice s ON s.name = 'toysim.nothing' AND "
                                   "s.start_ns BETWEEN i.start_ns AND i.start_ns + i.dur_ns WHERE number % 2 = 0 GROUP BY 1 ORDER BY 1"),
                         [(number, 6 * one) for number, one in enumerate(on)])
        self.assertEqual(self.rows("SELECT count(*) FROM v_slice WHERE name = 'toysim.nothing'"), [(6 * sum(on) + len(on),)],
                         "between iterations all are recorded")
        self.assertEqual(self.rows("SELECT * FROM loss"), [])

    def test_blocks_of_memory_are_recorded_with_their_end_or_counted(self):
        self.assertEqual(self.calls("memory"), [(2 * one, 1 - one) for one in self.on["memory"]])
        self.assertEqual(self.rows("SELECT bytes, count(*), count(free_ns) FROM allocation WHERE bytes IN (200001, 300001) GROUP BY 1"),
                         [(200001, COUNT // 2, COUNT // 2), (300001, *[sum(self.on["memory"])] * 2)])

    def test_an_inner_iteration_has_its_outer_ones_mask(self):
        masks = [mask for (mask,) in self.rows("SELECT probe_mask FROM iteration ORDER BY number")]
        self.assertEqual(masks[::2], masks[1::2])
        self.assertEqual(masks[::2], [mask_of(2 * number, BLOCK, self.ASKED) for number in range(COUNT // 2)])


if __name__ == "__main__":
    unittest.main()
