"""The graph and the replay of a program that uses several streams, on the simulated device."""
import json
import subprocess
import unittest

from cuda_support import VARIANTS, CudaTest
from run_support import PATIENCE, SONDE, TARGETS

# Each step of cuda_streams, and two more before the first one, has so many kernels and copies.
WORK = 16
# One for the batch, four for gradients, two for the first results (the compute stream, and the reduction that it waits for), one
# for the optimizer, and one for the last results.
EVENT_WAITS = 9
GOAL = 0.005  # of an iteration


class Streams(CudaTest):
    def steps(self, count, *arguments, variant="13"):
        self.record(TARGETS / f"cuda_streams{variant}", count, *arguments, variant=variant)
        self.assertEqual(self.rows("SELECT * FROM loss"), [])

    def sonde(self, verb, *options):
        result = subprocess.run([SONDE, verb, self.output, *map(str, options), "--format", "json"], capture_output=True,
                                text=True, timeout=PATIENCE)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def lengths(self, path=None):
        return [ns for (ns,) in self.rows("SELECT dur_ns FROM iteration ORDER BY number", path)]


class Graph(Streams):
    def test_has_an_edge_for_everything_that_waits(self):
        for variant in VARIANTS:
            with self.subTest(cuda=variant):
                self.steps(60, variant=variant)
                graph = self.sonde("graph")
                self.assertEqual({check["check"]: check["violations"] for check in graph["checks"]},
                                 {"times": 0, "reachable": 1, "circles": 0, "partners": 0, "mismatch": 0, "clocks": 0, "ranks": 0,
                                  "iterations": 0},
                                 "nothing but the program's thread begins by itself")
                self.assertEqual({kind: graph["edges"].get(kind) for kind in ("launch", "stream_wait", "sync")},
                                 {"launch": 62 * WORK + 1,  # also the first batch
                                  "stream_wait": 62 * EVENT_WAITS,
                                  "sync": 62 + 4})  # and all streams at the end

    def test_the_critical_path_goes_through_all_streams(self):
        self.steps(60)
        graph = self.sonde("graph", "--critical-path")
        self.assertEqual(graph["path_ns"], sum(self.lengths()))
        self.assertEqual(graph["path_ns"], sum(part["ns"] for part in graph["critical_path"]))
        done = {part["what"].partition(" (")[0]
                for part in graph["critical_path"] if part["cause"] in ("device", "copy")}
        self.assertEqual(done, {"Memcpy HtoD", "forward", "backward", "all_reduce", "Memcpy DtoH", "optimizer"})


class Replay(Streams):
    def test_with_the_measured_gaps_is_exact(self):
        self.steps(60)
        replay = self.sonde("replay")
        self.assertEqual((replay["iterations"], replay["error"]), (60, 0))
        self.assertLess(replay["gap_share"], 0.01)

    def test_even_steps_predict_the_odd_ones(self):
        for _ in range(5):
            self.steps(400)
            replay = self.sonde("replay", "--judge", "odd")
            self.assertEqual((replay["iterations"], len(replay["groups"])), (200, 1))
            if 2 * replay["standard_error"] <= GOAL:
                return self.assertLessEqual(abs(replay["error"]) - 2 * replay["standard_error"], GOAL)
        self.skipTest("not decided: this machine is too busy")

    def test_each_step_takes_as_long_as_it_did_also_with_the_gaps_of_others(self):
        for arguments in ((150, 200_000), (150, 200_000, "ahead"), (600, 3000)):
            with self.subTest(arguments=arguments):
                self.steps(*arguments)
                replayed = self.folder / "replayed.sonde"
                self.sonde("replay", "--judge", "odd", "-f", "-o", replayed)
                pairs = list(zip(self.lengths(), self.lengths(replayed)))
                self.assertEqual(len(pairs), arguments[0])
                near = sum(abs(now - before) <= GOAL * before for before, now in pairs)
                self.assertGreaterEqual(near, 0.9 * len(pairs), "the others were disturbed within a launch")


if __name__ == "__main__":
    unittest.main()
