"""What the probe `tensor` tells of tensors is what NumPy finds, and it looks at those that it was asked for."""
import json
import math
import subprocess
import textwrap
import unittest

from python_support import PYTHON
from run_support import SOURCES, RunTest

SCRIPT = SOURCES / "python" / "tensors.py"
NUMBERS = ("minimum", "maximum", "mean", "variance", "l1", "l2")
EXACT = ("elements", "zeros", "nans", "infs", "shape", "dtype")
QUANTILES = ("p05", "p50", "p99")

TRAINING = textwrap.dedent("""
    import sonde, sys, torch
    torch.manual_seed(2)
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    criterion = torch.nn.CrossEntropyLoss(reduction=REDUCTION)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for number in range(STEPS):
        optimizer.zero_grad()
        loss = criterion(model(torch.randn(5, 6)), torch.tensor([0, 1, 2, 0, 1])).mean()
        loss.backward()
        optimizer.step()
    """).replace("REDUCTION", "'none'").replace("STEPS", "7")


class Tensors(RunTest):
    def record(self, *program, plan=None, options=(), status=0):
        more = ["-f", "--sources", "annotation,torch,tensor", *options]
        if plan is not None:
            self.plan = self.folder / "plan.toml"
            self.plan.write_text(textwrap.dedent(plan))
            more += ["--tensors", str(self.plan)]
        result = self.run_sonde(*program, options=more)
        self.assertEqual(result.returncode, status, result.stderr + result.stdout)
        return result

    def train(self, plan=None, program=TRAINING, options=()):
        return self.record(PYTHON, "-c", program, plan=plan, options=options)

    def counts(self):
        """{(collection, iteration): names}"""
        found = {}
        for collection, iteration, name in self.rows(
                "SELECT t.collection, t.iteration, n.text FROM tensor t JOIN string n ON n.id = t.name_id ORDER BY 1, 2, 3"):
            found.setdefault((collection, iteration), []).append(name)
        return found

    # -- what it tells ---------------------------------------------------------------------------------------------

    def check_truth(self, *more):
        self.record(PYTHON, SCRIPT, self.folder / "truth.json", *more)
        truth = json.loads((self.folder / "truth.json").read_text())
        columns = EXACT + NUMBERS + QUANTILES
        rows = {row[0]: dict(zip(columns, row[1:])) for row in self.rows(
            f"SELECT n.text, {', '.join('t.' + column for column in columns)} FROM tensor t JOIN string n ON n.id = t.name_id"
            " WHERE t.iteration = 17 AND t.role = 'other'")}
        self.assertGreater(len(truth), 70)
        self.assertEqual(set(rows) - {"of NumPy"}, set(truth))
        for name, told in truth.items():
            with self.subTest(name):
                self.compare(rows[name], told)
        return rows

    def compare(self, row, told):
        for column in EXACT:
            self.assertEqual(row[column], told[column], column)
        for column in NUMBERS:
            if told.get(column) is None:
                self.assertIn(row[column], (None, 0.0), column)
            else:
                self.assertTrue(math.isclose(row[column], told[column], rel_tol=1e-6), (column, row[column], told[column]))
        for column in QUANTILES:  # a bucket is 1/16 of an octave, and the middle of it is told
            self.assertTrue(told.get(column) is None or math.isclose(row[column], told[column], rel_tol=0.04, abs_tol=1e-300),
                            (column, row[column], told.get(column)))

    def test_equals_what_numpy_finds(self):
        rows = self.check_truth()
        numpy = rows["of NumPy"]
        self.assertEqual((numpy["elements"], numpy["minimum"], numpy["maximum"], numpy["mean"]), (6, 0, 10, 5))

    def test_denormals_count_where_the_program_flushes_them(self):
        self.check_truth("flush")

    def test_histograms_hold_all_finite_elements(self):
        self.record(PYTHON, SCRIPT, self.folder / "truth.json")
        rows = self.rows("SELECT n.text, t.elements - t.nans - t.infs, (SELECT sum(json_extract(e.value, '$[1]')) FROM"
                         " json_each(t.histogram) e), t.histogram, t.minimum, t.maximum FROM tensor t JOIN string n ON"
                         " n.id = t.name_id")
        self.assertGreater(len(rows), 70)
        for name, finite, counted, histogram, least, most in rows:
            with self.subTest(name):
                self.assertEqual(counted or 0, finite)
                ends = [end for end, _ in json.loads(histogram)]
                self.assertEqual(ends, sorted(ends))
                if finite:
                    self.assertLessEqual(ends[0], least + abs(least) * 1e-5)
                    self.assertGreaterEqual(ends[-1], most - abs(most) * 1e-5)

    def test_a_devices_reductions_tell_the_same(self):
        result = self.record(PYTHON, SCRIPT.with_name("device_tensors.py"))
        self.assertEqual(result.stdout, "True ([True], 1)\n")

    # -- what it looks at ------------------------------------------------------------------------------------------

    def test_looks_at_everything_now_and_then(self):
        self.train()
        parameters = ["0.bias", "0.weight", "2.bias", "2.weight"]
        self.assertEqual(self.counts(), {
            ("weights", 0): parameters, ("gradients", 0): parameters, ("inputs", 0): ["Sequential.0"],
            ("outputs", 0): ["Sequential"], ("activations", 0): ["0", "1", "2"], ("losses", 0): ["CrossEntropyLoss", "loss"]})

    def test_follows_each_collections_own_schedule(self):
        self.train("""
            [tensors]
            every = 3
            [tensors.weights]
            include = ["weight$", "^2"]
            exclude = "^2.weight$"
            [tensors.relus]
            of = "activations"
            include = "^1$"
            every = 0
            iterations = [1, 5]
            [tensors.losses]
            start = 2
            end = 6
            every = 2
            """)
        weights = ["0.weight", "2.bias"]
        losses = ["CrossEntropyLoss", "loss"]
        self.assertEqual(self.counts(), {
            **{("weights", number): weights for number in (0, 3, 6)}, **{("relus", number): ["1"] for number in (1, 5)},
            **{("losses", number): losses for number in (2, 4)}})

    def test_weights_are_those_before_the_step(self):
        program = TRAINING.replace("    optimizer.step()", "    if number == 0: sonde.tensor('0.weight', model[0].weight)\n"
                                                           "    if number == 0: sonde.tensor('0.weight', model[0].weight.grad)\n"
                                                           "    optimizer.step()")
        self.train(program=program)
        told = self.rows("SELECT t.l1, t.l2, t.mean, t.variance FROM tensor t WHERE collection = 'tensors' ORDER BY t.rowid")
        found = self.rows("SELECT t.l1, t.l2, t.mean, t.variance FROM tensor t JOIN string n ON n.id = t.name_id WHERE"
                          " n.text = '0.weight' AND collection IN ('weights', 'gradients') ORDER BY collection DESC")
        self.assertEqual(len(told), 2)
        self.assertEqual(found, told)

    def test_losses_equal_the_scalar(self):
        self.train("[tensors.losses]\nevery = 1")
        rows = self.rows("SELECT t.iteration, t.mean, s.value FROM tensor t JOIN string n ON n.id = t.name_id JOIN scalar s ON"
                         " s.iteration = t.iteration AND s.name_id = n.id WHERE n.text = 'loss'")
        self.assertEqual(len(rows), 7)
        for _, mean, value in rows:
            self.assertEqual(mean, value)

    def test_numbers_of_the_program_decide(self):
        program = TRAINING.replace("    optimizer.zero_grad()", "    step = sonde.iteration(200 + number)\n    step.__enter__()\n"
                                                                "    optimizer.zero_grad()")
        self.train("[tensors.losses]\nevery = 203", program + "    step.__exit__(None, None, None)\n")
        self.assertEqual(list(self.counts()), [("losses", 203)])

    def test_two_models_have_names_of_their_own(self):
        program = textwrap.dedent("""
            import torch
            class Critic(torch.nn.Linear):
                pass
            actor, critic = torch.nn.Linear(2, 2), Critic(2, 1)
            optimizer = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
            critic(actor(torch.ones(3, 2))).sum().backward()
            optimizer.step()
            """)
        self.train(program=program)
        self.assertEqual(self.counts()["weights", 0], ["Critic.bias", "Critic.weight", "bias", "weight"])

    def test_parameters_that_come_later_have_names_of_their_own(self):
        program = textwrap.dedent("""
            import gc, torch
            model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
            for number in range(3):
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                model(torch.ones(3, 2)).sum().backward()
                optimizer.step()
                del optimizer
                model[1] = torch.nn.Linear(2, 1)
                gc.collect()
            """)
        self.train("[tensors.weights]\nevery = 1", program)
        self.assertEqual({name for names in self.counts().values() for name in names}, {"0.bias", "0.weight", "1.bias", "1.weight"})

    def test_gradients_that_are_scaled_are_not_told_as_if_they_were_not(self):
        fused = "int(torch.__version__.split('.')[0]) >= 2"  # 1.13 has none for the processor, and asks no questions
        program = TRAINING.replace("lr=0.1)", f"lr=0.1, **({{'fused': True}} if {fused} else {{}}))").replace(
            "    optimizer.step()", "    optimizer.grad_scale, optimizer.found_inf = torch.tensor(65536.0), torch.tensor(0.0)\n"
                                    "    optimizer.step()")
        self.train("[tensors]\nend = 1\n[tensors.weights]\n[tensors.gradients]", program)
        self.assertEqual([collection for collection, _ in self.counts()], ["weights"])
        self.assertEqual(self.losses(), {"tensor statistics": 4 + 1})  # and the collection that had none

    def test_a_file_of_the_programs_is_never_written_to(self):
        program = TRAINING + textwrap.dedent("""
            import os
            os.closerange(3, 4096)
            mine = os.open("mine", os.O_RDWR | os.O_CREAT)
            for number in range(3, 400):
                os.dup2(mine, number)
            for _ in range(3):
                model(torch.randn(5, 6)).sum().backward()
                optimizer.step()
            assert os.fstat(mine).st_size == 0
            """)
        self.train("[tensors]\nevery = 1\nsave = true\n[tensors.weights]", program)
        self.assertIn("closed its descriptor", self.args()["sonde.tensor.saved"])

    def test_a_replaced_trace_takes_its_tensors_along(self):
        for _ in range(2):
            self.train("[tensors]\nsave = true\n[tensors.weights]")
            self.assertEqual(len(list((self.folder / "out.sonde.tensors").iterdir())), 1)

    def test_evaluations_and_other_modes_are_left_alone(self):
        self.train("[tensors.activations]\nevery = 1", TRAINING + textwrap.dedent("""
            model.eval()
            with torch.no_grad():
                model(torch.randn(5, 6))
            """))
        self.assertEqual({iteration for _, iteration in self.counts()}, set(range(7)))

    def test_the_program_says_the_same(self):
        program = TRAINING + "print([p.sum().item() for p in model.parameters()], torch.rand(2), loss.item())"
        plain = subprocess.run([PYTHON, "-c", program.replace("import sonde, sys, torch", "import torch")], capture_output=True,
                               text=True, check=True)
        self.assertEqual(self.train("[tensors]\nevery = 1\nfirst-nan = true\nsave = true", program).stdout, plain.stdout)

    # -- whole tensors ---------------------------------------------------------------------------------------------

    def test_saved_tensors_have_the_same_statistics(self):
        program = TRAINING + "model.half(); model.bfloat16()"
        self.train("[tensors]\nevery = 2\n[tensors.weights]\nsave = true\n[tensors.activations]\nsave = true\n[tensors.losses]",
                   program)
        rows = self.rows("SELECT t.file, t.file_offset, t.shape, t.mean, t.variance, t.l2, t.collection FROM tensor t")
        saved = [row for row in rows if row[0] is not None]
        self.assertEqual({row[6] for row in saved}, {"weights", "activations"})
        self.assertEqual({row[6] for row in rows if row[0] is None}, {"losses"})
        self.assertEqual(len(saved), 4 * (4 + 3))
        told = json.loads(subprocess.run([PYTHON, "-c", textwrap.dedent("""
            import json, numpy, sys
            told = []
            for path, offset in json.load(sys.stdin):
                with open(path, "rb") as file:
                    file.seek(offset)
                    values = numpy.load(file)
                doubles = values.astype(numpy.float64)
                told.append([str(list(values.shape)), doubles.mean(), doubles.var(), numpy.linalg.norm(doubles)])
            json.dump(told, sys.stdout)
            """)], input=json.dumps([[str(self.output.parent / row[0]), row[1]] for row in saved]), capture_output=True,
            text=True, check=True).stdout)
        for row, (shape, *numbers) in zip(saved, told):
            self.assertEqual(row[2], shape)
            for found, truth in zip(row[3:6], numbers):
                self.assertTrue(math.isclose(found, truth, rel_tol=1e-12, abs_tol=1e-15), (found, truth))

    def test_saving_stops_at_the_limit(self):
        program = TRAINING + "for _ in range(20): loss = model(torch.ones(20_000, 6)).sum(); loss.backward(); optimizer.step()"
        self.train("[tensors]\nevery = 1\nsave = true\nsave-limit-mib = 1\n[tensors.activations]", program)
        (file,) = (self.folder / "out.sonde.tensors").iterdir()
        self.assertLessEqual(file.stat().st_size, 1 << 20)
        self.assertEqual(self.rows("SELECT count(*) > 20 FROM tensor WHERE file IS NULL"), [(1,)])
        self.assertEqual(self.rows("SELECT count, reason FROM loss WHERE probe = 'tensor'"), [(1, "not supported")])
        ((text,),) = self.rows("SELECT value FROM v_arg WHERE key = 'sonde.tensor.saved'")
        self.assertIn("save-limit-mib", text)

    # -- the first NaN ---------------------------------------------------------------------------------------------

    def first_nan(self, program):
        self.record(PYTHON, "-c", textwrap.dedent(program), plan="[tensors]\nfirst-nan = true\n[tensors.losses]")
        return [value for (value,) in self.rows("SELECT value FROM v_arg WHERE key = 'sonde.tensor.first_nan'")]

    def test_the_first_operator_that_makes_a_nan_is_named(self):
        (text,) = self.first_nan("""
            import torch
            torch.empty(100).fill_(float("inf"))
            x = torch.tensor([1.0, -2.0], requires_grad=True)
            y = x.log()
            (y * 3).sum().sqrt()
            """)
        self.assertEqual(text, "aten.log.default of [(2,)] in iteration 0, called at <string>:5")
        self.assertEqual(self.rows("SELECT n.text FROM slice s JOIN string n ON n.id = s.name_id WHERE s.kind = 'mark' AND n.text LIKE '%NaN%'"),
                         [("first NaN: aten.log.default",)])

    def test_one_that_backward_makes_is_named(self):
        (text,) = self.first_nan("""
            import torch
            x = torch.tensor([0.0], requires_grad=True)
            (x.sqrt() * 0).backward()
            """)
        self.assertIn("aten.div", text)

    def test_nans_that_come_from_elsewhere_are_none(self):
        self.assertEqual(self.first_nan("""
            import torch
            x = torch.tensor([float("nan"), 1.0])
            (x * 2).log()
            torch.empty(3, 3)[:2].mul(2)
            torch.nn.functional.cross_entropy(torch.ones(2, 3), torch.tensor([0, 1]), weight=torch.full((3,), float("nan")))
            torch.zeros(3).fill_(float("nan"))
            torch.ones(2, device="meta").log()
            """), [])

    def test_once_it_is_found_operators_are_followed_no_more(self):
        result = self.record(PYTHON, "-c", textwrap.dedent("""
            import torch
            from torch.utils import _python_dispatch
            current = getattr(_python_dispatch, "_get_current_dispatch_mode", lambda: None)
            x = torch.nn.Parameter(torch.tensor([-1.0]))
            optimizer = torch.optim.SGD([x], lr=0.1)
            x.log().backward()
            optimizer.step()
            print(current())
            """), plan="[tensors]\nfirst-nan = true\n[tensors.losses]")
        self.assertEqual(result.stdout, "None\n")

    # -- what it cannot do -----------------------------------------------------------------------------------------

    def losses(self):
        return dict(self.rows("SELECT kind, count FROM loss WHERE probe = 'tensor' AND reason = 'not supported'"))

    def args(self):
        return dict(self.rows("SELECT key, value FROM v_arg WHERE owner = 'process' AND key LIKE 'sonde.t%'"))

    def test_expressions_that_are_bad_in_other_ways_are_named_and_counted(self):
        result = self.train('[tensors.losses]\n[tensors.a]\nof = "weights"\ninclude = "a{99999999999999}"\n'
                            '[tensors.b]\nof = "weights"\ninclude = "[[0]"')
        self.assertEqual(list(self.counts()), [("b", 0), ("losses", 0)])
        self.assertIn("not a regular expression", self.args()["sonde.tensor.a"])
        self.assertEqual(self.losses(), {"tensor statistics": 1})
        self.assertNotIn("FutureWarning", result.stderr)

    def test_a_bad_expression_is_named_and_counted(self):
        result = self.train('[tensors.losses]\n[tensors.a]\nof = "weights"\ninclude = "(x"')
        self.assertEqual(list(self.counts()), [("losses", 0)])
        self.assertIn("'(x' is not a regular expression", self.args()["sonde.tensor.a"])
        self.assertEqual(self.losses(), {"tensor statistics": 1})
        self.assertIn("dropped", result.stderr)

    def test_a_collection_without_tensors_is_named_and_counted(self):
        self.train('[tensors.losses]\n[tensors.a]\nof = "weights"\ninclude = "nothing"\n[tensors.never]\nof = "inputs"\nstart = 100')
        self.assertEqual(self.args(), {"sonde.tensor.a": "it has no tensors: see of, include and exclude"})
        self.assertEqual(self.losses(), {"tensor statistics": 1})

    def test_tensors_that_cannot_be_read_are_named_and_counted(self):
        self.train(program=textwrap.dedent("""
            import sonde, torch
            sonde.tensor("complex", torch.ones(2, dtype=torch.complex64))
            sonde.tensor("sparse", torch.eye(3).to_sparse())
            sonde.tensor("nowhere", torch.ones(2, device="meta"))
            sonde.tensor("quantised", torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8))
            sonde.tensor("text", "a text")
            sonde.tensor("good", torch.ones(2))
            """))
        self.assertEqual(list(self.counts().values()), [["good"]])
        self.assertEqual(self.losses(), {"tensor statistics": 5})
        texts = [value for (value,) in self.rows("SELECT value FROM v_arg WHERE key = 'sonde.tensor.unsupported' ORDER BY 1")]
        self.assertEqual([text.partition(":")[0] for text in texts], ["complex", "nowhere", "quantised", "sparse", "text"])

    def test_mistakes_in_a_plan_are_refused(self):
        for plan, place, said in (("[tensors]\nevry = 3", ":2:1:", "did you mean 'every'"),
                                  ("[tensors]\nevery = -3", ":2:9:", "whole number"),
                                  ("[tensors.a]\nevery = 1", ":1:", "lacks of"),
                                  ("[tensors.a]\nof = 'wights'", ":2:6:", "weights, gradients"),
                                  ("[tensors.a]\nof = 3", ":2:6:", "a string"),
                                  ("[tensor]", ":1:", "[tensors]"), ("[tensors", ":1:", "TOML")):
            with self.subTest(plan):
                result = self.record("true", plan=plan, status=125)
                self.assertIn(f"{self.plan}{place}", result.stderr)
                self.assertIn(said, result.stderr)

    def test_options_need_their_probe(self):
        result = self.run_sonde("true", options=("--tensors", "x.toml", "--sources", "torch"))
        self.assertEqual(result.returncode, 125)
        self.assertIn("--sources +tensor", result.stderr)
        result = self.run_sonde("true", options=("--sources", "tensor"))
        self.assertIn("--sources tensor needs the torch probe", result.stderr)


if __name__ == "__main__":
    unittest.main()
