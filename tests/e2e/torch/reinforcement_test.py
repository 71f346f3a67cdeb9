"""A reinforcement-learning loop splits into Python, framework and simulator, and its parts sum to the whole."""
import json
import subprocess
import unittest

from python_support import PYTHON, PythonTest
from run_support import SONDE, SOURCES

SCRIPT = SOURCES / "python" / "rl_loop.py"
PARTS = ("python", "framework", "simulator", "other", "waiting")


class Loop(PythonTest):
    def split(self, variant, iterations):
        """The report's rows of the operations by name, and the simulator's own (calls, ns)."""
        told = self.record(PYTHON, SCRIPT, variant, str(iterations), sources="+python",
                           more=("--module-category", "toysim=simulator"))
        report = subprocess.run([SONDE, "report", "--format", "json", self.output], capture_output=True, text=True, check=True)
        rows = {row["operation"]: row for row in json.loads(report.stdout)["python"]}
        return rows, json.loads(told)["Env.step"]

    def assert_parts(self, rows):
        for name, row in rows.items():
            self.assertEqual(sum(row[f"{part}_ns"] for part in PARTS), row["wall_ns"], name)
        # An operation's time is that of its slices, minus the parts further inside.
        for name in ("inference", "simulation", "update"):
            ((ns,),) = self.rows(
                f"SELECT sum(s.dur_ns) - coalesce((SELECT sum(c.dur_ns) FROM v_slice c JOIN v_slice p ON p.id = c.parent_id"
                f" WHERE p.name = '{name}' AND c.kind IN ('forward', 'backward', 'optimizer')), 0)"
                f" FROM v_slice s WHERE s.kind = 'operation' AND s.name = '{name}'")
            self.assertEqual(rows[name]["wall_ns"], ns, name)

    def share(self, rows, part):
        inside = [row for row in rows.values() if row["operation"] is not None]
        return sum(row[f"{part}_ns"] for row in inside) / sum(row["wall_ns"] for row in inside)

    def test_splits_into_python_framework_and_simulator(self):
        rows, (calls, ns) = self.split("on-policy", 10)
        self.assert_parts(rows)
        self.assertEqual(calls, 640)
        self.assertEqual(rows["simulation"]["transitions"]["simulator"], calls)
        self.assertLess(abs(rows["simulation"]["simulator_ns"] / ns - 1), 0.05)
        self.assertEqual({name for name, row in rows.items() if name and row["simulator_ns"] > 0}, {"simulation"})
        for name in ("inference", "update"):
            self.assertGreater(rows[name]["framework_ns"], 0, name)
            self.assertGreater(rows[name]["python_ns"], 0, name)

    def test_on_policy_is_bound_by_the_simulator_off_policy_is_not(self):
        on, _ = self.split("on-policy", 10)
        off, _ = self.split("off-policy", 20)
        self.assert_parts(off)
        self.assertGreater(self.share(on, "simulator") / self.share(off, "simulator"), 3.5)
        self.assertGreater(self.share(off, "framework"), self.share(on, "framework"))

    def test_is_on_the_screen(self):
        self.split("on-policy", 3)
        report = subprocess.run([SONDE, "report", self.output], capture_output=True, text=True, check=True).stdout
        self.assertIn("Python threads:", report)
        lines = report.splitlines()
        (head,) = [number for number, line in enumerate(lines) if line.startswith("Python threads:")]
        self.assertRegex(lines[head + 1], "operation +time +python +framework +simulator +other +waiting +native calls")
        self.assertLessEqual(len(lines), 40)
        self.assertLessEqual(max(map(len, lines)), 100)


if __name__ == "__main__":
    unittest.main()
