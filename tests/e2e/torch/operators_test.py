"""Operators of PyTorch are those that its own profiler sees: names, how often, within which others, shapes."""
import json
import subprocess
import unittest
from collections import Counter

from python_support import PYTHON
from run_support import SOURCES, RunTest

SCRIPT = SOURCES / "python" / "operators.py"


def is_operator(name):
    """Not a record_function of PyTorch's Python code."""
    return "#" not in name


class Operators(RunTest):
    def record(self, *program, what="shapes", sources="annotation,torch", more=(), **options):
        result = self.run_sonde(*program, options=("-f", "--sources", sources, "--torch-operators", what, *more), **options)
        self.assertEqual(result.returncode, 0, result.stderr + result.stdout)
        return result.stdout

    def operators(self, scope):
        """[(name, names of the operators around it, innermost first; shapes)] of the operation `scope`"""
        slices = {id: (parent, kind, name, shapes) for id, parent, kind, name, shapes in self.rows(
            "SELECT s.id, s.parent_id, s.kind, s.name, (SELECT a.value FROM v_arg a WHERE a.owner = 'slice' AND a.owner_id ="
            " s.id AND a.key = 'shapes') FROM v_slice s")}
        found = []
        for parent, kind, name, shapes in slices.values():
            if kind != "operator":
                continue
            around, inside = [], False
            while parent is not None:
                parent, kind, outer, _ = slices[parent]
                if kind == "operator":
                    around.append(outer)
                inside |= (kind, outer) == ("operation", scope)
            if inside:
                found.append((name, tuple(around), shapes))
        return found

    def test_are_those_of_the_profiler(self):
        told = json.loads(self.record(PYTHON, SCRIPT))
        truth = Counter((name, tuple(filter(is_operator, around)) if told["nested"] else None, json.dumps(shapes))
                        for name, around, shapes in told["events"] if is_operator(name))
        found = Counter((name, around if told["nested"] else None, shapes)
                        for name, around, shapes in self.operators("measured"))
        self.assertGreater(sum(truth.values()), 300)
        self.assertEqual(found - truth, Counter())
        self.assertEqual(truth - found, Counter())

    def test_of_other_threads_are_theirs(self):
        self.record(PYTHON, SCRIPT)
        names = [(name, around) for name, around, _ in self.operators("elsewhere")]
        self.assertIn(("aten::cumsum", ()), names)
        ((threads,),) = self.rows("SELECT count(DISTINCT thread_id) FROM slice WHERE kind = 'operator'")
        self.assertGreaterEqual(threads, 2)

    def pairs(self, scope):
        """Counter of (operator, its backward function) of the operation `scope`"""
        return Counter(self.rows(
            "WITH RECURSIVE around(id, of, outer) AS (SELECT l.to_id, l.from_id, s.parent_id FROM link l JOIN slice s ON s.id ="
            " l.to_id WHERE l.kind = 'fwdbwd' UNION ALL SELECT a.id, a.of, s.parent_id FROM around a JOIN slice s ON s.id ="
            " a.outer) SELECT f.name, b.name FROM around a JOIN v_slice o ON o.id = a.outer JOIN v_slice f ON f.id = a.of"
            " JOIN v_slice b ON b.id = a.id WHERE o.kind = 'operation' AND o.name ="
            f" '{scope}'"))

    def test_backward_is_tied_to_forward(self):
        told = json.loads(self.record(PYTHON, SCRIPT, what="names"))
        truth = Counter(map(tuple, told["pairs"]))
        self.assertGreater(sum(truth.values()), 15)
        self.assertEqual(self.pairs("measured"), truth)
        functions = [name for name, _, _ in self.operators("measured") if name.endswith(("Backward0", "Backward"))
                     and ":" not in name]
        self.assertEqual(len(functions), sum(truth.values()))

    def test_backward_is_tied_to_the_thread_that_went_forward(self):
        self.record(PYTHON, SCRIPT, what="names")
        self.assertEqual(self.pairs("joined"), Counter({("aten::exp", "ExpBackward0"): 1, ("aten::sin", "SinBackward0"): 1,
                                                        ("aten::sub", "SubBackward0"): 1, ("aten::sum", "SumBackward0"): 2}))

    def test_have_no_shapes_unless_asked(self):
        self.record(PYTHON, "-c", "import torch\ntorch.ones(2) + 1", what="names")
        self.assertEqual(self.rows("SELECT count(*) FROM v_arg WHERE key IN ('shapes', 'dtypes')"), [(0,)])
        self.assertEqual(self.rows("SELECT count(*) FROM slice WHERE kind = 'operator' AND dur_ns IS NULL"), [(0,)])
        self.assertEqual(self.rows("SELECT count(*) FROM v_slice WHERE name = 'aten::add'"), [(1,)])

    def test_have_their_inputs_types(self):
        self.record(PYTHON, "-c", "import torch\ntorch.ones(2, dtype=torch.float16).add(torch.ones(1, dtype=torch.int64))")
        self.assertEqual(self.rows("SELECT a.value FROM v_arg a JOIN v_slice s ON s.id = a.owner_id AND a.owner = 'slice' WHERE"
                                   " a.key = 'dtypes' AND s.name = 'aten::add'"), [("[c10::Half, long int, Int]",)])

    def test_none_is_recorded_without_the_option(self):
        self.run_sonde(PYTHON, SCRIPT, options=("-f",))
        self.assertEqual(self.rows("SELECT count(*) FROM slice WHERE kind = 'operator'"), [(0,)])

    def test_pause_with_recording(self):
        program = ("import sonde, torch\nx = torch.ones(2)\nfor number in range(4):\n"
                   "  with sonde.iteration(number): x.add(1)")
        self.record(PYTHON, "-c", program, what="names", more=("--capture", "iterations:1-2"))
        self.assertEqual(self.rows("SELECT i.number FROM v_slice s JOIN v_iteration i ON s.parent_id = i.slice_id"
                                   " WHERE s.name = 'aten::add' ORDER BY 1"), [(1,), (2,)])

    def test_the_program_says_the_same(self):
        program = "import torch\ntorch.manual_seed(3)\nprint(torch.rand(3), torch.nn.Linear(2, 2)(torch.ones(1, 2)))"
        plain = subprocess.run([PYTHON, "-c", program], capture_output=True, text=True, check=True)
        self.assertEqual(self.record(PYTHON, "-c", program), plain.stdout)

    def test_mistakes_are_refused(self):
        for words, said in ((("--torch-operators", "all"), "names"),
                            (("--torch-operators", "names", "--sources", "-torch"), "needs the torch probe")):
            result = self.run_sonde("true", options=words)
            self.assertEqual(result.returncode, 125)
            self.assertIn(said, result.stderr)


if __name__ == "__main__":
    unittest.main()
