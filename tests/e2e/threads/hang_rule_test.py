"""The rule `hang` on real jobs: it names the rank that the others wait for, live and in the trace, and is silent on others."""
import os
import pathlib
import signal
import socket
import unittest

from hang_support import STOP, HangTest
from run_support import PATIENCE, SOURCES

TORCH_PYTHON = os.environ["SONDE_TORCH_PYTHON"]

HEALTHY = """
import sys, time, torch, torch.distributed as dist
dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(60):
    if dist.get_rank() == 1 and i == 30:
        time.sleep(float(sys.argv[1]))
    optimizer.zero_grad(); model(torch.randn(4, 8)).sum().backward(); optimizer.step(); time.sleep(0.05)
"""


class HangRule(HangTest):
    def setUp(self):
        super().setUp()
        self.write_rules(4)

    def ranks(self, *program, options=(STOP, STOP[:2])):
        """By default only the recorder of rank 0 stops it."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        return [self.start(TORCH_PYTHON, *program, name=f"rank{rank}.sonde", options=options[rank], RANK=str(rank),
                           WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=port) for rank in range(2)]

    def test_gloo_names_the_rank_that_has_not_come(self):
        outputs = self.ranks(SOURCES / "python" / "hanging_rank.py")
        self.assertEqual(self.jobs[0].wait(PATIENCE), 123)
        self.jobs[1].send_signal(signal.SIGTERM)
        self.jobs[1].wait(PATIENCE)
        for traces in (outputs[:1], outputs[1:], outputs):  # each rank's trace alone names the same rank
            status, (result,) = self.check(*traces)
            self.assertEqual((status, result["entity"], result["verdict"]), (1, "rank 1", "fired"))
        self.assertIn("has not entered allreduce", result["message"])
        self.assertEqual(result["evidence"]["waiting"], ["rank 0"])
        self.assertGreaterEqual(result["value"], 4)
        self.assert_stacks(result)
        self.assertEqual(result["threshold"], 4)

    def assert_stacks(self, result):
        """Rank 0 waits for a reduction, rank 1 sleeps. Each line has Python's and native functions."""
        waiting, asleep = sorted(result["evidence"]["stacks"])
        self.assertRegex(waiting, r"^rank 0: .*wait.* < .*backward \(_tensor\.py, function at line \d+\) < <module> "
                                  r"\(hanging_rank\.py, function at line 1\)$")
        self.assertRegex(asleep, r"^rank 1: .*nanosleep.* < <module> \(hanging_rank\.py, function at line 1\)$")

    def test_recorders_with_a_job_folder_judge_and_stop_the_whole_job(self):
        both = (*STOP, "--job-dir", "job")
        (self.folder / "job").mkdir()
        (self.folder / "job" / "stop.txt").write_text("an earlier run was stopped")
        outputs = self.ranks(SOURCES / "python" / "hanging_rank.py", options=(both, both))
        self.assertEqual(self.statuses(), [123, 123])
        why = (self.folder / "job" / "stop.txt").read_text()
        self.assertIn("the rule hang stopped the job: rank 1: has not entered allreduce", why)
        _, (result,) = self.check(*outputs)
        self.assert_stacks(result)
        self.assertIn("hanging_rank.py", [pathlib.Path(place["path"]).name
                                          for place in result["evidence"]["locations"]])
        for output in outputs:
            notes = [text for text, in self.rows("SELECT text FROM note WHERE source = 'recorder'", output)]
            self.assertIn(why, notes, output)
        self.assertEqual(sorted(path.name for path in (self.folder / "job").iterdir()),
                         ["rank0-urgent.sonde", "rank1-urgent.sonde", "stop.txt"])

    def in_folder(self, program, rules, *arguments, world=2):
        """Exit statuses of ranks whose recorders judge by these rules of severity error, and would stop the job."""
        (self.folder / "rank.py").write_text(program)
        (self.folder / "hang.toml").write_text(rules)
        for rank in range(world):
            self.start("/usr/bin/python3", "rank.py", *arguments, name=f"rank{rank}.sonde",
                       options=(*STOP, "--job-dir", "job"), RANK=str(rank), WORLD_SIZE=str(world))
        return self.statuses()

    def test_a_job_folder_does_not_mistake_a_rank_that_ended_first_for_one_that_hangs(self):
        program = ("import os, time, sonde\nfor i in range(20):\n  with sonde.iteration(): time.sleep(0.05)\n"
                   "if os.environ['RANK'] == '0':\n  time.sleep(8)\n")
        rules = '[rules]\nhang = { severity = "error", threshold_s = 2, busy_s = 20 }\n'
        self.assertEqual(self.in_folder(program, rules), [0, 0])

    def test_a_job_folder_leaves_rules_about_a_rank_to_its_own_recorder(self):
        """Its part begins long after the first iteration."""
        program = ("import time, sonde\nfor i in range(60):\n  with sonde.iteration():\n    for k in range(1000):\n"
                   "      with sonde.operation('x'): pass\n    time.sleep(0.1)\n")
        rules = '[rules]\nmax-initialization-time = { severity = "error", max_s = 3 }\nhang = "error"\n'
        self.assertEqual(self.in_folder(program, rules, world=1), [0])
        status, results = self.check(self.folder / "rank0.sonde")
        self.assertEqual((status, {each["verdict"] for each in results}), (0, {"pass"}))

    def test_a_checkpoint_that_takes_long_is_no_hang(self):
        program = ("import time, sonde\nfor i in range(20):\n  with sonde.iteration(): time.sleep(0.05)\n"
                   "with sonde.phase('save checkpoint'): time.sleep(8)\n")
        self.assertEqual(self.in_folder(program, '[rules]\nhang = { severity = "error", threshold_s = 2 }\n', world=1), [0])

    def test_a_job_folder_needs_ranks_and_rules(self):
        for options, variables in ((STOP, {}), ((), {"RANK": "0", "WORLD_SIZE": "2"})):
            output = self.start("true", options=(*options, "--job-dir", "job"), **variables)
            self.assertEqual(self.jobs[-1].wait(PATIENCE), 125)
            self.assertFalse(output.exists())

    def test_gloo_a_slow_rank_is_no_hang(self):
        (self.folder / "healthy.py").write_text(HEALTHY)
        self.write_rules(8)
        outputs = self.ranks("healthy.py", "2.5")
        self.assertEqual(self.statuses(), [0, 0])
        status, results = self.check(*outputs)
        self.assertEqual((status, [each["verdict"] for each in results]), (0, ["pass"]))


if __name__ == "__main__":
    unittest.main()
