"""PyTorch programs under `sonde run`: they do what they did, and the trace says what they did."""
import pathlib
import re
import sys
import tempfile
import textwrap
import unittest

import torch_job

sys.path.insert(0, str(torch_job.ROOT / "tests/python"))
from training_programs import EVERYTHING, MODEL  # noqa: E402

PACKAGE = pathlib.Path(torch_job.SONDE).parents[1] / "lib/sonde/python"


class TorchRun(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="sonde-torch-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        (self.folder / "spool").mkdir()

    def both(self, program, *options, **more):
        """The program's process without and with Sonde, and its trace."""
        script, output = self.folder / "program.py", self.folder / "out.sonde"
        script.write_text(textwrap.dedent(program), encoding="utf-8")
        command = [torch_job.PYTHON, str(script)]
        bare, = torch_job.run_ranks(command, world=1, **more)
        recorder = [torch_job.SONDE, "run", "-f", "-o", str(output), *options, "--"]
        recorded, = torch_job.run_ranks(command, world=1, recorder=recorder, spool=self.folder / "spool", **more)
        self.assertEqual((bare.returncode, bare.stdout), (recorded.returncode, recorded.stdout), recorded.stderr)
        said = [line for line in recorded.stderr.splitlines() if not line.startswith("sonde run: ")]
        self.assertEqual(bare.stderr.splitlines(), said)
        return bare, torch_job.Trace(output)

    def nothing_crosses(self, trace):
        self.assertEqual(0, trace.value("SELECT count(*) FROM slice WHERE lane <> 0 AND category IN ('torch', 'annotation')"))
        self.assertEqual([], trace.rows("SELECT * FROM loss WHERE reason <> 'not followed'"))
        self.assertEqual([], trace.rows("SELECT * FROM arg JOIN string ON string.id = key_id"
                                        " WHERE text LIKE 'sonde.torch.%'"))

    def test_a_program_that_uses_much_of_torch(self):
        bare, trace = self.both(EVERYTHING)
        self.assertEqual(7, bare.returncode)
        self.nothing_crosses(trace)
        kinds = dict(trace.rows("SELECT kind, count(*) FROM slice WHERE category = 'torch' GROUP BY kind"))
        self.assertEqual(2, kinds["checkpoint"])
        self.assertGreaterEqual(kinds["evaluation"], 2)
        self.assertGreaterEqual(trace.value("SELECT count(*) FROM iteration"), 8)
        self.assertEqual(0, trace.value("SELECT count(*) FROM iteration WHERE dur_ns IS NULL"))

    def test_losses_are_the_printed_ones(self):
        bare, trace = self.both(MODEL + """
for batch in DataLoader(data, 2):
    print(repr(step(batch).item()))
""")
        recorded = trace.column("SELECT value FROM scalar JOIN string ON string.id = name_id WHERE text = 'loss'"
                                " ORDER BY iteration")
        self.assertEqual([float(line) for line in bare.stdout.split()], recorded)
        self.assertEqual(list(range(16)), trace.column("SELECT number FROM iteration ORDER BY number"))

    def test_values_and_work_told_after_a_step_are_of_its_iteration(self):
        _, trace = self.both(MODEL + """
import sonde
for number in range(4):
    step(batch)
    sonde.scalar("mine", number)
    sonde.iteration_info(samples=number + 1)
for number, batch in enumerate(DataLoader(data, 8), 4):
    with sonde.operation("update"):
        step(batch)
    sonde.scalar("mine", number)
for number in range(8, 12):
    optimizer.zero_grad()
    (net.first.weight ** 2).sum().backward()  # no module is called
    optimizer.step()
    sonde.scalar("mine", number)
""", PYTHONPATH=str(PACKAGE))
        for name in ("mine", "loss"):
            self.assertEqual(list(range(12)), trace.column(
                f"SELECT iteration FROM scalar JOIN string ON string.id = name_id WHERE text = '{name}' ORDER BY ts_ns"))
        self.assertEqual(0, trace.value("SELECT count(*) FROM scalar JOIN string ON string.id = name_id"
                                        " WHERE text = 'mine' AND iteration <> value"))
        self.assertEqual([1, 2, 3, 4], trace.column("SELECT samples FROM iteration WHERE number < 4 ORDER BY number"))

    def test_what_came_to_no_step_is_no_iteration(self):
        _, trace = self.both(MODEL + """
for _ in range(5):
    step(batch)
""")
        self.assertEqual(list(range(5)), trace.column("SELECT number FROM iteration ORDER BY number"))
        self.assertEqual({"iteration": 5, "range": 1}, dict(trace.rows(
            "SELECT kind, count(*) FROM slice JOIN string ON string.id = name_id WHERE text = 'iteration' GROUP BY 1")))

    def test_annotations_and_hooks_nest_in_each_other(self):
        _, trace = self.both(MODEL + """
import sonde
sonde.metadata("algorithm", "test")
with sonde.phase("training"):
    for batch in DataLoader(data, 8):
        with sonde.operation("update"):
            step(batch)
        sonde.scalar("rate", 0.5)
    sonde.mark("trained")
print(sonde.operation.__doc__ is not None)
""", PYTHONPATH=str(PACKAGE))
        self.nothing_crosses(trace)
        self.assertEqual([("phase", "iteration", 4)], trace.rows(
            "SELECT parent.kind, child.kind, count(*) FROM slice child JOIN slice parent ON parent.id = child.parent_id"
            " WHERE child.kind = 'iteration' GROUP BY 1, 2"))
        self.assertEqual([("iteration", "update", 4)], trace.rows(
            "SELECT parent.kind, text, count(*) FROM slice child JOIN slice parent ON parent.id = child.parent_id"
            " JOIN string ON string.id = child.name_id WHERE child.kind = 'operation' GROUP BY 1, 2"))
        self.assertEqual(["mark"], trace.column("SELECT kind FROM slice JOIN string ON string.id = name_id"
                                                " WHERE text = 'trained'"))
        self.assertEqual([("algorithm", "test")], trace.rows(
            "SELECT text, value FROM arg JOIN string ON string.id = key_id WHERE owner = 'process' AND text = 'algorithm'"))

    def test_an_uncaught_exception_is_reported_as_before(self):
        script = self.folder / "program.py"
        script.write_text(MODEL + "net(torch.ones(2, 5))\n", encoding="utf-8")
        bare, = torch_job.run_ranks([torch_job.PYTHON, str(script)], world=1)
        recorded, = torch_job.run_ranks(
            [torch_job.PYTHON, str(script)], world=1, spool=self.folder / "spool",
            recorder=[torch_job.SONDE, "run", "-o", str(self.folder / "out.sonde"), "--"])
        self.assertEqual((1, bare.stdout), (recorded.returncode, recorded.stdout))
        error = re.compile(r"^RuntimeError: .*$", re.MULTILINE)
        self.assertEqual(error.findall(bare.stderr), error.findall(recorded.stderr))

    def test_workers_by_fork_and_spawn(self):
        # A queue's own thread may release its last semaphore while Python ends, with or without Sonde. Python's tracker then
        # warns of a semaphore that no longer exists.
        quiet = "ignore:resource_tracker"
        for method in ("fork", "spawn"):
            _, trace = self.both("if __name__ == '__main__':\n" + textwrap.indent(MODEL + f"""
for batch in DataLoader(data, 8, num_workers=2, multiprocessing_context="{method}"):
    print(step(batch).item())
""", "    "), PYTHONWARNINGS=quiet)
            self.nothing_crosses(trace)
            main = trace.column("SELECT DISTINCT process_id FROM iteration")
            self.assertEqual(1, len(main), method)
            self.assertGreaterEqual(trace.value("SELECT count(*) FROM process WHERE parent_id = ?", *main), 2, method)

    def test_ranks_that_a_script_gives_its_own_processes(self):
        _, trace = self.both("""
import os, torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

def train(rank, address):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=2)
    model = nn.parallel.DistributedDataParallel(nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
    dist.barrier()

if __name__ == "__main__":
    mp.spawn(train, args=(os.environ["ADDRESS"],), nprocs=2)
""", ADDRESS=f"tcp://127.0.0.1:{torch_job.free_port()}")  # in an environment that says rank 0 of 1
        self.nothing_crosses(trace)
        self.assertEqual([(0, 2, 3), (1, 2, 3)], trace.rows(
            "SELECT rank, world_size, count(*) FROM process JOIN iteration ON process_id = process.id"
            " GROUP BY process.id ORDER BY rank"))
        report = torch_job.sonde("report", self.folder / "out.sonde")
        for rank in (0, 1):
            self.assertIn(f"rank {rank}", report.stdout)

    def test_the_source_torch_can_be_left_out(self):
        _, trace = self.both(MODEL + "step(batch)\nprint(torch.nn.Module.__call__.__module__)\n", "--sources", "-torch")
        self.assertEqual([], trace.rows("SELECT * FROM slice WHERE category = 'torch'"))


if __name__ == "__main__":
    unittest.main()
