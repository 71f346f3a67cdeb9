"""The probe `python`: each call of native code from Python code, by what the module itself counts."""
import json
import shutil
import subprocess
import unittest

from python_support import PYTHON, PythonTest, pythons
from run_support import SOURCES

SCRIPT = SOURCES / "python" / "native_calls.py"


class NativeCalls(PythonTest):
    def calls(self):
        """{(thread, name): (calls, ns)} of toysim, but of what gives the account."""
        return {(tid, name.removeprefix("toysim.")): (count, ns) for tid, name, count, ns in self.rows(
            "SELECT tid, name, count(*), sum(dur_ns) FROM v_slice WHERE kind = 'python' AND name LIKE 'toysim.%'"
            " AND name <> 'toysim.truth' GROUP BY 1, 2")}

    def facts(self):
        return [value for value, in self.rows("SELECT value FROM v_arg WHERE owner = 'process' AND key = 'sonde.python'")]


class Calls(NativeCalls):
    def test_are_those_that_the_module_counted(self):
        known = {minor: python for minor, python in pythons().items() if minor in range(9, 14)}
        self.assertNotEqual(known, {})
        for minor, python in known.items():
            with self.subTest(python, minor=minor):
                told = json.loads(self.record(python, SCRIPT, "200"))
                truth = {(int(thread), name): tuple(value) for thread, each in told.items() for name, value in each.items()}
                found = self.calls()
                self.assertEqual({key: count for key, (count, _) in found.items()},
                                 {key: count for key, (count, _) in truth.items()})
                self.assertEqual(len({thread for thread, _ in found}), 4)
                for key, (count, ns) in truth.items():
                    self.assertGreaterEqual(found[key][1], ns - 50 * count, key)  # of rounding, at most
                self.assertEqual(self.facts(), [])

    def test_take_as_long_as_they_took(self):
        told = json.loads(self.record(PYTHON, SCRIPT, "500"))
        truth = sum(ns for each in told.values() for name, (_, ns) in each.items() if name == "Env.step")
        found = sum(ns for (_, name), (_, ns) in self.calls().items() if name == "Env.step")
        self.assertLess(found / truth, 1.05)

    def test_of_calls_within_calls_are_their_children(self):
        self.record(PYTHON, SCRIPT, "50")
        ((inside, depth),) = self.rows(
            "SELECT count(*), min(s.depth - p.depth) FROM v_slice s JOIN v_slice p ON p.id = s.parent_id"
            " WHERE p.name = 'toysim.call' AND s.name = 'toysim.spin' AND s.start_ns >= p.start_ns AND s.end_ns <= p.end_ns")
        self.assertEqual((inside, depth), (4 * 50 * 2, 1))

    def test_have_the_scope_of_their_thread(self):
        self.record(PYTHON, "-c",
                    "import sonde, toysim\nwith sonde.operation('rollout'):\n  toysim.spin(1)\ntoysim.nothing()")
        self.assertEqual(self.rows("SELECT name, scope, scope_how FROM v_slice WHERE kind = 'python' AND name LIKE 'toysim%'"
                                   " ORDER BY start_ns"),
                         [("toysim.spin", "rollout", "own"), ("toysim.nothing", None, "none")])

    def test_in_forked_children_are_recorded(self):
        self.record(PYTHON, "-c",
                    "import os, toysim\ntoysim.spin(1)\nif os.fork() == 0:\n  toysim.fast(2)\n  os._exit(0)\nos.wait()")
        self.assertEqual(self.rows("SELECT count(DISTINCT pid), count(*) FROM v_slice WHERE name LIKE 'toysim%'"), [(2, 2)])


class Categories(PythonTest):
    PROGRAM = "import toysim, zlib, math, json\ntoysim.spin(1)\nzlib.crc32(b'a')\nmath.sin(1)\njson.dumps([1])"

    def categories(self, *more):
        self.record(PYTHON, "-c", self.PROGRAM, more=more)
        return self.rows("SELECT DISTINCT category, name FROM v_slice WHERE kind = 'python' AND name NOT LIKE 'gc%'")

    def test_of_an_unknown_module_is_other(self):
        self.assertEqual(self.categories(), [("other", "toysim.spin")])

    def test_are_what_the_option_says(self):
        for category in ("simulator", "framework", "other"):
            self.assertEqual(self.categories("--module-category", f"toysim={category}"), [(category, "toysim.spin")])
        self.assertEqual(self.categories("--module-category", "toysim=python"), [])

    def test_of_packages_hold_for_what_is_in_them(self):
        package = self.modules / "pack" / "inner"
        package.mkdir(parents=True)
        shutil.move(self.modules / "toysim.abi3.so", package)
        for folder in (package, package.parent):
            (folder / "__init__.py").touch()
        program = "import pack.inner.toysim as t\nt.spin(1)"
        for rule, category in (("pack=simulator", "simulator"), ("pack.inner=framework", "framework"),
                               ("pac=framework", "other")):
            self.record(PYTHON, "-c", program, more=("--module-category", "pack.other=python",
                                                                 "--module-category", rule))
            self.assertEqual(self.rows("SELECT category, name FROM v_slice WHERE kind = 'python' AND name NOT LIKE 'gc%'"),
                             [(category, "pack.inner.toysim.spin")])

    def test_of_gymnasium_what_is_compiled_is_the_simulator(self):
        package = self.modules / "gymnasium"
        (package / "envs").mkdir(parents=True)
        (package / "__init__.py").write_text(
            "from gymnasium.envs import toysim\nclass CartPole:\n    def step(self): return toysim.spin(1)")
        (package / "envs" / "__init__.py").touch()
        shutil.move(self.modules / "toysim.abi3.so", package / "envs")
        self.record(PYTHON, "-c", "import gymnasium\ngymnasium.CartPole().step()")
        self.assertEqual(self.rows("SELECT category, name FROM v_slice WHERE kind = 'python' AND name NOT LIKE 'gc%'"),
                         [("simulator", "gymnasium.envs.toysim.spin")])

    def test_mistakes_are_refused(self):
        for words, said in ((("--module-category", "toysim"), "write it like my_env=simulator"),
                            (("--module-category", "toysim=game"), "choose framework")):
            result = self.run_sonde("true", options=("--sources", "+python", *words))
            self.assertEqual(result.returncode, 125)
            self.assertIn(said, result.stderr)
        result = self.run_sonde("true", options=("--module-category", "toysim=simulator"))
        self.assertEqual(result.returncode, 125)
        self.assertIn("--sources +python", result.stderr)


class Interpreter(PythonTest):
    def test_collections_of_garbage_are_slices(self):
        self.record(PYTHON, "-c", "import gc\nfor generation in (0, 1, 1, 2, 2, 2): gc.collect(generation)")
        found = dict(self.rows("SELECT name, count(*) FROM v_slice WHERE kind = 'python' AND category = 'python' GROUP BY 1"))
        self.assertGreaterEqual(found["gc generation 0"], 1)
        self.assertGreaterEqual(found["gc generation 1"], 2)
        self.assertGreaterEqual(found["gc generation 2"], 3)

    def test_is_left_alone_without_the_source(self):
        self.record(PYTHON, "-c",
                    "import gc, sys, toysim\ntoysim.spin(1)\nassert gc.callbacks == []\n"
                    "assert not any('Finder' in type(f).__name__ and 'sonde' in type(f).__module__ for f in sys.meta_path)",
                    sources="annotation")
        self.assertEqual(self.rows("SELECT count(*) FROM slice WHERE kind = 'python'"), [(0,)])

    def test_functions_stay_what_they_are(self):
        program = ("import inspect, pickle, toysim, sys\n"
                   "e = toysim.Env()\n"
                   "print(type(toysim.spin), toysim.spin.__doc__, toysim.spin.__name__, toysim.spin.__module__)\n"
                   "print(inspect.signature(toysim.spin), inspect.signature(toysim.Env.step), toysim.Env.step)\n"
                   "print(toysim.spin is toysim.spin, e.step == e.step, hash(toysim.spin) == hash(toysim.spin))\n"
                   "print(pickle.loads(pickle.dumps(toysim.spin)) is toysim.spin)\n"
                   "print(toysim.__spec__.loader, toysim.__loader__)\n")
        plain = subprocess.run([PYTHON, "-c", program], capture_output=True, text=True, env=self.environment,
                               check=True)
        self.assertEqual(self.record(PYTHON, "-c", program).splitlines()[:4], plain.stdout.splitlines()[:4])

    def test_keeps_its_own_functions(self):
        """Also those that an extension module has as attributes."""
        self.record(PYTHON, "-c",
                    "import toysim\n"
                    "class Given:\n  def __init__(self, value): pass\n"
                    "class Both(Given, toysim.Env): pass\n"
                    "Given(1)\nassert type(Both(2)) is Both\nassert 'a'.upper() == toysim.upper('a')\n"
                    "toysim.fromkeys('ab')\ntoysim.new_member(Given)")
        self.assertEqual(self.rows("SELECT name FROM v_slice WHERE name LIKE 'toysim%'"), [])

    def test_an_exception_passes(self):
        result = self.run_sonde(PYTHON, "-c", "import toysim\ntoysim.fail()", options=("--sources", "python"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("RuntimeError: as told", result.stderr)
        self.assertEqual(self.rows("SELECT name FROM v_slice WHERE name LIKE 'toysim%'"), [("toysim.fail",)])


if __name__ == "__main__":
    unittest.main()
