"""The machine and the job's processes, sampled while they run."""
import os
import sys
import unittest

from run_support import SOURCES, TARGETS, RunTest

PROGRAM = str(SOURCES / "python" / "busy_then_idle.py")
NVML = str(TARGETS.parent / "nvml")


class SystemTest(RunTest):
    def record(self, *options, program=(sys.executable, PROGRAM, "used", "0.3", str(100 << 20)), **environment):
        result = self.run_sonde(*program, options=("-f", *options), env=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result


class Samples(SystemTest):
    def test_threads_used_what_they_say_themselves(self):
        self.record()
        last = {tid: value for tid, value in self.rows(
            "SELECT tid, max(value) FROM v_sample WHERE name = 'cpu time' AND tid IS NOT NULL GROUP BY tid")}
        lines = [list(map(int, line.split())) for line in (self.folder / "used").read_text().splitlines()]
        self.assertEqual(len(lines), 2)
        for tid, before, after in lines:
            self.assertGreaterEqual(last[tid], before, "sampled while the thread slept")
            self.assertLessEqual(last[tid], after)

    def test_totals_only_grow(self):
        self.record()
        self.assertEqual(self.rows(
            "SELECT name FROM (SELECT name, value, lag(value) OVER (PARTITION BY counter_id ORDER BY ts_ns) AS before "
            "FROM v_sample WHERE kind = 'total') WHERE value < before"), [])
        (most,), = self.rows("SELECT max(rate) FROM v_rate WHERE name = 'cpu time' AND tid IS NOT NULL")
        self.assertLess(most, 1.5, "a thread has one processor")

    def test_memory_is_that_of_the_process(self):
        self.record()
        (most,), = self.rows("SELECT max(value) FROM v_sample WHERE name = 'resident memory'")
        self.assertGreater(most, 100 << 20)
        self.assertLess(most, 400 << 20)

    def test_samples_lie_in_the_life_of_their_process(self):
        self.record()
        self.assertEqual(self.rows(
            "SELECT s.name FROM sample x JOIN counter c ON c.id = x.counter_id JOIN process p ON p.id = c.process_id "
            "JOIN v_sample s ON s.counter_id = c.id WHERE x.ts_ns < p.start_ns - 1000000000 "
            "OR x.ts_ns > p.end_ns + 1000000000"), [])

    def test_the_machine_is_sampled_too(self):
        self.record()
        names = {name for name, in self.rows("SELECT DISTINCT name FROM v_sample WHERE process_id IS NULL")}
        for name in ("cpu busy", "cpu 0 busy", "memory available", "context switches"):
            self.assertIn(name, names)
        cpus = {name for name in names if name.startswith("cpu ") and name.endswith(" busy")} - {"cpu busy"}
        self.assertEqual(len(cpus), os.cpu_count())

    def test_nothing_when_it_is_off(self):
        self.record("--sources", "-system")
        self.assertEqual(self.rows("SELECT count(*) FROM counter"), [(0,)])

    def test_the_rate_is_the_users(self):
        def instants(rate):
            self.record("--sample-rate", rate)
            return self.rows("SELECT count(DISTINCT ts_ns) FROM v_sample WHERE name = 'context switches'")[0][0]
        self.assertGreater(instants("50"), 3 * instants("2"))

    def test_children_and_what_they_become_have_counters_of_their_own(self):
        self.record(program=("sh", "-c", f"{sys.executable} {PROGRAM} used 0.1 1 & wait; "
                                         f"exec {sys.executable} {PROGRAM} used 0.1 1"))
        counted = self.rows("SELECT p.pid, count(DISTINCT p.id) FROM counter c JOIN process p ON p.id = c.process_id "
                            "GROUP BY p.pid ORDER BY p.start_ns")
        self.assertEqual([images for _, images in counted], [2, 1], "the shell and what it became, and its child")

    def test_one_rank_of_a_machine_samples_it(self):
        self.record(RANK="1", LOCAL_RANK="1", WORLD_SIZE="2")
        self.assertEqual(self.rows("SELECT count(*) FROM counter WHERE process_id IS NULL"), [(0,)])
        self.assertGreater(self.rows("SELECT count(*) FROM counter")[0][0], 5)
        self.record(RANK="0", LOCAL_RANK="0", WORLD_SIZE="2")
        self.assertGreater(self.rows("SELECT count(*) FROM counter WHERE process_id IS NULL")[0][0], 5)


class Gpus(SystemTest):
    def test_gpus_have_their_counters(self):
        self.record(LD_LIBRARY_PATH=NVML)
        values = {(device, name): (unit, kind, value) for device, name, unit, kind, value in self.rows(
            "SELECT device, name, unit, kind, max(value) FROM v_sample WHERE device IS NOT NULL "
            "GROUP BY device, name, unit, kind")}
        self.assertEqual(values[0, "GPU busy"], ("1", "gauge", 0.75))
        self.assertEqual(values[1, "GPU busy"], ("1", "gauge", 0))
        self.assertEqual(values[0, "GPU memory used"], ("bytes", "gauge", 20 << 30))
        self.assertEqual(values[0, "GPU power"], ("W", "gauge", 312.5))
        self.assertEqual(values[0, "GPU multiprocessor clock"], ("Hz", "gauge", 1980e6))
        self.assertEqual(values[0, "GPU held back by power cap"][2], 1)
        self.assertEqual(values[0, "GPU held back by heat"][2], 0)
        self.assertIn((0, "NVLink sent"), values)
        for absent in ("NVLink sent", "GPU power"):
            self.assertNotIn((1, absent), values)
        (value,), = self.rows("SELECT min(value) FROM v_sample WHERE name = 'NVLink received' AND device = 0")
        self.assertEqual(value, (1000 + 139) * 1024)
        self.assertEqual(self.rows("SELECT ordinal, uuid FROM device ORDER BY ordinal"),
                         [(n, f"GPU-50515253-5455-5657-5859-5a5b5c5d5e{n:02x}") for n in (0, 1)])


if __name__ == "__main__":
    unittest.main()
