"""What the stack_*_test.py files share: recordings of probe stack, and the stacks of one as folded text."""
import math
import subprocess

from run_support import SONDE, RunTest


class StackTest(RunTest):
    def record(self, *program, rate="250", sources="stack", status=0, more=(), **options):
        often = ("--stack-rate", rate) if "stack" in sources else ()
        result = self.run_sonde(*program, options=("-f", "--sources", sources, *often, *more), timeout=600, **options)
        self.assertEqual(result.returncode, status, result.stderr + result.stdout)
        return result.stdout.splitlines()

    def stacks(self, *options, status=0):
        """[(frames, outermost first, without the process; ns)]"""
        result = subprocess.run([SONDE, "stacks", *options, str(self.output)], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, status, result.stderr)
        if status:
            return result.stderr
        lines = [line.rpartition(" ") for line in result.stdout.splitlines()]
        return [(path.split(";")[1:], int(ns)) for path, _, ns in lines]

    def samples(self):
        return self.rows("SELECT count(*) FROM stack_sample")[0][0]

    def assert_hardly_truncated(self):
        """But for a thread that is just being made."""
        self.assertLess(self.rows("SELECT avg(truncated) FROM stack_sample")[0][0], 0.01)

    def facts(self):
        return self.rows("SELECT value FROM v_arg WHERE owner = 'process' AND key = 'stack'")

    def assert_shares(self, found, truth, least=500):
        """`found`: samples by what they were in; as many as its CPU time says, within the sampling error."""
        total, whole = sum(found.values()), sum(truth.values())
        self.assertGreater(total, least)
        for key, ns in truth.items():
            share = ns / whole
            error = 5 * math.sqrt(total * share * (1 - share)) + 3
            self.assertLess(abs(found[key] - total * share), error, (key, found, truth))
