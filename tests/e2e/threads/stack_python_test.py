"""Functions of Python in place of the interpreter's own, with every version of Python that is here."""
import os
import re
import unittest
from collections import Counter

from python_support import pythons
from run_support import SLOW, SOURCES, TARGETS
from stack_support import StackTest

SCRIPT = SOURCES / "stack" / "stack_tree.py"
KNOWN = range(8, 14)
SECONDS = float(os.environ.get("SONDE_STACK_SECONDS", 1.5 if SLOW else 0.75))  # of CPU time, each of two threads


class Python(StackTest):
    def test_functions_get_their_time(self):
        found = {minor: name for minor, name in pythons().items() if minor in KNOWN}
        self.assertTrue(found)
        for minor, name in found.items():
            with self.subTest(name, minor=minor):
                self.assert_tree(name)

    def assert_tree(self, python):
        lines = [line.split(" ", 1) for line in self.record(python, SCRIPT, SECONDS)]
        truth = {path: int(ns) for ns, path in lines}
        self.assertEqual(len(truth), 6)
        found, inside = Counter(), Counter()
        for frames, ns in self.stacks():
            folded = ";".join(frames)
            # From the outermost function on: the function that Python runs on a thread that Python started.
            match = re.match(r"(Thread\.)?_bootstrap \(threading.py:\d+\);(Thread\.)?_bootstrap_inner \(threading.py:\d+\);"
                             r"(Thread\.)?run \(threading.py:\d+\);body \(stack_tree.py:\d+\);work \(stack_tree.py:\d+\);"
                             r"measured \(stack_tree.py:\d+\);(.*)", folded)
            for path in truth:
                if match and (match[4] == path or match[4].startswith(path + ";")):
                    found[path] += ns / 4_000_000
                    inside[path] += "_PyEval" in folded or "PyObject_Call" in folded
        self.assert_shares(found, truth, least=300)
        self.assertEqual(sum(inside.values()), 0, "frames of the interpreter's own between Python's")
        self.assertEqual(self.facts(), [])
        self.assert_hardly_truncated()

    def test_has_files_and_lines(self):
        self.record("/usr/bin/python3", SCRIPT, 0.5)
        rows = self.rows("SELECT DISTINCT n.text, p.text, f.line FROM frame f JOIN string n ON n.id = f.name_id JOIN string p ON "
                         "p.id = f.path_id WHERE f.kind = 'python' AND n.text IN ('spin', 'direct') ORDER BY 1")
        lines = SCRIPT.read_text().splitlines()
        self.assertEqual(rows, [(name, str(SCRIPT), lines.index(f"def {name}(units):") + 1) for name in ("direct", "spin")])

    def test_a_deep_stack_is_whole_by_its_python_functions(self):
        code = ("import sys; sys.setrecursionlimit(10000)\n"
                "def down(n): return down(n - 1) if n else sum(i & 7 for i in range(3000))\n"
                "class Key:\n"
                "  def __init__(self, n): self.n = n\n"
                "  def __lt__(self, other): return down(self.n % 120) > 0 if self.n < 3000 else max([Key(self.n - 3000), "
                "Key(0)]) is not None\n"
                "import time; end = time.process_time() + 2\n"
                "while time.process_time() < end: max([Key(3000 * 60 + 100), Key(0)])\n")
        self.record("/usr/bin/python3", "-c", code)
        whole = cut = deep = 0
        for frames, ns in self.stacks():
            if any("Key.__lt__" in frame for frame in frames):
                whole += frames[0].startswith("<module>")
                deep += len(frames) > 100
                cut += frames[0] == "[truncated]"
        self.assertGreater(whole, 5)
        self.assertGreater(deep, 0)
        self.assertEqual(cut, 0)

    def test_an_unknown_version_is_said_and_gives_native_frames(self):
        self.record(TARGETS / "stack_strange_python")
        self.assertEqual(self.facts(), [("Python 3.99 is not known: no Python frames",)])
        self.assertTrue(any("main" in frames for frames, _ in self.stacks()))
        old = {minor: name for minor, name in pythons().items() if minor not in KNOWN}
        for minor, name in old.items():
            with self.subTest(name):
                self.record(name, "-c", "sum(i & 7 for i in range(5000000))")
                self.assertEqual(self.facts(), [(f"Python 3.{minor} is not known: no Python frames",)])
                self.assertTrue(any("_PyEval_EvalFrameDefault" in frames for frames, _ in self.stacks()))


if __name__ == "__main__":
    unittest.main()
