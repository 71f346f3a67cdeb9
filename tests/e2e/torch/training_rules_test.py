"""Rules about tensors find real faults of a training, and are silent about its healthy twin."""
import json
import textwrap
import unittest

from run_support import SOURCES, RunTest
from torch_job import PYTHON, SONDE, run_ranks, sonde

PROGRAM = SOURCES / "python" / "training_faults.py"
PLAN = """
    [tensors]
    every = 1
    save = true
    [tensors.weights]
    [tensors.gradients]
    save = false
    [tensors.activations]
    """


class TrainingRules(RunTest):
    def results(self, *rules, traces=None):
        """{rule: [result]} of these rules, each with severity error."""
        file = self.folder / "sonde.toml"
        file.write_text("[rules]\n" + "".join(f"{rule}\n" for rule in rules))
        checked = sonde("check", *(traces or [self.output]), "--rules", file, "--format", "json")
        self.assertIn(checked.returncode, (0, 1, 3, 4), checked.stderr)
        found = {}
        for result in json.loads(checked.stdout)["results"]:
            found.setdefault(result["rule"], []).append(result)
        return found

    def judge(self, fault, *rules, plan=PLAN):
        file = self.folder / "plan.toml"
        file.write_text(textwrap.dedent(plan))
        recorded = self.run_sonde(PYTHON, PROGRAM, fault,
                                  options=("-f", "--sources", "annotation,torch,tensor", "--tensors", str(file)))
        self.assertEqual(recorded.returncode, 0, recorded.stderr)
        return self.results(*(f'{rule} = "error"' if "=" not in rule else rule for rule in rules))

    def expect(self, fault, rule, verdict, *options):
        ((name, (result,)),) = self.judge(fault, rule, *options).items()
        self.assertEqual(result["verdict"], verdict, (fault, name, result["message"]))
        return result

    def test_a_huge_learning_rate_makes_tensors_explode(self):
        found = self.judge("huge_rate", "exploding-tensor", "first-nan")
        self.assertEqual([result["verdict"] for (result,) in found.values()], ["fired", "fired"])
        (first,) = found["first-nan"]
        self.assertEqual(first["entity"], "rank 0")
        self.assertRegex(first["message"], r"in iteration \d+$")
        healthy = self.judge("healthy", "exploding-tensor", "first-nan")
        self.assertEqual([result["verdict"] for (result,) in healthy.values()], ["pass", "pass"])

    def test_the_operator_of_the_first_nan_is_named(self):
        result = self.expect("huge_rate", "first-nan", "fired")
        self.assertNotIn("operator", result["evidence"])
        (named,) = self.judge("huge_rate", "first-nan", plan="[tensors]\nevery = 1\nfirst-nan = true\n")["first-nan"]
        self.assertIn("aten.", named["evidence"]["operator"])

    def test_weights_of_zero_make_relus_dead(self):
        self.assertIn("relu", self.expect("zero_weights", "dead-relu", "fired")["message"])
        self.expect("healthy", "dead-relu", "pass")

    def test_weights_of_zero_are_a_poor_initialisation(self):
        self.expect("zero_weights", "poor-weight-initialization", "fired")
        self.expect("relus", "poor-weight-initialization", "pass")

    def test_no_rule_fires_on_a_healthy_training(self):
        self.judge("healthy", "first-nan")
        for plan in (PLAN, None):
            if plan is None:  # the default: statistics of the first iteration
                self.run_sonde(PYTHON, PROGRAM, "healthy", options=("-f", "--sources", "annotation,torch,tensor"))
            checked = sonde("check", self.output, "--profile", "ci", "--format", "json")
            results = json.loads(checked.stdout)["results"]
            self.assertEqual([result["rule"] for result in results if result["verdict"] in ("fired", "error")], [])
            self.assertEqual(checked.returncode, 0, checked.stdout)
            self.assertIn("vanishing-gradient", [result["rule"] for result in results if result["verdict"] == "pass"])

    def test_a_tiny_learning_rate_changes_no_weight(self):
        self.expect("tiny_rate", "weight-update-ratio", "fired")
        self.expect("small_rate", "weight-update-ratio", "pass")
        self.expect("tiny_rate", "unchanged-tensor", "fired")
        self.expect("healthy", "unchanged-tensor", "pass")

    def test_statistics_alone_do_not_judge_a_weight_that_stays(self):
        (unsure,) = self.judge("tiny_rate", "weight-update-ratio", plan="[tensors]\nevery = 1\n")["weight-update-ratio"]
        self.assertEqual(unsure["verdict"], "insufficient")
        self.assertIn("save = true", unsure["message"])

    def test_gradients_vanish_in_many_sigmoids(self):
        result = self.expect("sigmoids", "vanishing-gradient", "fired")
        self.assertIn("fc0", result["message"])
        self.expect("relus", "vanishing-gradient", "pass")

    def test_classes_that_are_swapped_are_confused(self):
        self.expect("swapped", "confusion", "fired")
        self.expect("healthy", "confusion", "pass")
        self.expect("healthy", "class-imbalance", "pass")

    def ranks(self, fault):
        plan = self.folder / "plan.toml"
        plan.write_text("[tensors]\nevery = 20\n[tensors.weights]\n")
        ranks = run_ranks([PYTHON, PROGRAM, fault],
                          recorder=(SONDE, "run", "-f", "--sources", "annotation,torch,tensor", "--tensors", str(plan), "-o",
                                    f"{self.folder}/", "--"))
        for rank in ranks:
            self.assertEqual(rank.returncode, 0, rank.stderr)
        return self.results('diverging-replicas = "error"',
                            traces=[self.folder / "rank0.sonde", self.folder / "rank1.sonde"])["diverging-replicas"]

    def test_ranks_that_do_not_reduce_gradients_diverge(self):
        (result,) = self.ranks("separate")
        self.assertEqual((result["verdict"], result["entity"]), ("fired", "job"), result["message"])
        self.assertEqual(result["evidence"]["ranks"], ["rank 0", "rank 1"])
        (result,) = self.ranks("together")
        self.assertEqual(result["verdict"], "pass", result["message"])


if __name__ == "__main__":
    unittest.main()
