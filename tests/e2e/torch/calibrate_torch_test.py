"""`sonde run --calibrate` of PyTorch programs: hooks out of the way and back, boundaries where they were, ranks alike."""
import ast
import pathlib
import sys
import tempfile
import textwrap
import unittest

import torch_job
from calibrate_support import bits, mask_of

sys.path.insert(0, str(torch_job.ROOT / "tests/python"))
from training_programs import MODEL  # noqa: E402

BLOCK = 5
COUNT = 41 * BLOCK
DEFAULT = ("annotation", "torch", "gloo", "nccl", "mpi", "net", "cuda", "nvtx", "system")
MASKS = "SELECT number, probe_mask FROM iteration ORDER BY number"
# By kind of slice: the number of slices, and of iterations that contain them, with and without the probe `torch`.
SLICES = f"""SELECT s.kind, (i.probe_mask & {bits('torch')}) <> 0, count(*), count(DISTINCT i.id) FROM iteration i JOIN slice s
    ON s.start_ns >= i.start_ns AND s.start_ns < i.start_ns + i.dur_ns AND s.id <> i.slice_id WHERE s.category = 'torch'
    GROUP BY 1, 2 ORDER BY 1, 2"""


class CalibrateTorch(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="sonde-calibrate-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        (self.folder / "spool").mkdir()

    def run_program(self, program, *options, world=1, environment=()):
        """What its ranks print, which is what they print without Sonde, and their traces."""
        script = self.folder / "program.py"
        script.write_text(textwrap.dedent(program), encoding="utf-8")
        command = [torch_job.PYTHON, str(script)]
        bare = torch_job.run_ranks(command, world=world, **dict(environment))
        recorder = [torch_job.SONDE, "run", "-f", "-o", f"{self.folder}/", f"--calibrate={BLOCK}", *options, "--"]
        recorded = torch_job.run_ranks(command, world=world, recorder=recorder, spool=self.folder / "spool", **dict(environment))
        for one, other in zip(bare, recorded):
            self.assertEqual((one.returncode, one.stdout), (other.returncode, other.stdout), other.stderr)
            self.assertEqual(one.returncode, 0, one.stderr)
        return bare[0].stdout, [torch_job.Trace(self.folder / f"rank{rank}.sonde") for rank in range(world)]

    def job_of(self, trace):
        return trace.value("SELECT value FROM meta WHERE key = 'job'")

    def masks(self, trace, count, asked=DEFAULT):
        job = self.job_of(trace)
        return [(number, mask_of(number, BLOCK, asked, job)) for number in range(count)]

    def nothing_is_wrong(self, trace):
        self.assertEqual([], trace.rows("SELECT * FROM loss WHERE reason <> 'not followed'"))
        self.assertEqual([], trace.rows("SELECT * FROM arg JOIN string ON string.id = key_id WHERE text LIKE 'sonde.torch.%'"))
        self.assertEqual(0, trace.value("SELECT count(*) FROM slice WHERE lane <> 0 AND category IN ('torch', 'annotation')"))
        self.assertEqual(0, trace.value("SELECT count(*) FROM slice WHERE dur_ns IS NULL AND category IN ('torch', 'annotation')"))

    def test_iterations_with_torch_have_all_of_it_and_the_others_nothing(self):
        _, (trace,) = self.run_program(MODEL + f"""
            for _ in range({COUNT} + 1):
                print(step(batch).item())
        """.replace("            ", ""), "--torch-operators", "names")
        self.nothing_is_wrong(trace)
        masks = self.masks(trace, COUNT + 1)
        self.assertEqual(masks, trace.rows(MASKS))
        on = sum(mask & bits("torch") != 0 for _, mask in masks)
        self.assertLess(on, COUNT)
        # The hooks are switched in the first iteration of a block, after its begin: none of it is without them.
        found = {(kind, bool(with_torch)): (count, iterations) for kind, with_torch, count, iterations in trace.rows(SLICES)}
        operators = {key: value for key, value in found.items() if key[0] == "operator"}
        self.assertEqual({("backward", True): (on, on), ("forward", True): (on, on), ("module", True): (5 * on, on),
                          ("optimizer", True): (on, on)}, {key: found[key] for key in found if key not in operators})
        self.assertEqual([(("operator", True), on)], [(key, iterations) for key, (_, iterations) in operators.items()])
        self.assertEqual(on, trace.value("SELECT count(*) FROM scalar"), "losses of these")

    def test_batches_epochs_and_evaluations_are_where_they_were(self):
        program = MODEL + """
for epoch in range(30):
    net.train()
    for one in DataLoader(data, 4):
        print(step(one).item())
    net.eval()
    with torch.no_grad():
        print(sum(loss_of(one).item() for one in DataLoader(data, 8)))
"""
        _, (trace,) = self.run_program(program)
        self.nothing_is_wrong(trace)
        self.assertEqual(self.masks(trace, 240), trace.rows(MASKS))
        self.assertEqual(30, trace.value("SELECT count(*) FROM slice WHERE kind = 'evaluation'"))
        self.assertEqual(0, trace.value("SELECT count(*) FROM slice WHERE kind = 'range' AND category = 'torch'"),
                         "the last batch is known for it: no iteration begins that comes to nothing")
        self.assertEqual(0, trace.value("SELECT count(*) FROM v_slice e JOIN iteration i ON i.start_ns < e.end_ns AND "
                                        "i.start_ns + i.dur_ns > e.start_ns WHERE e.kind = 'evaluation'"))
        self.assertEqual(30 * 4, trace.value("SELECT count(*) FROM v_slice m JOIN v_slice e ON e.kind = 'evaluation' AND m.start_ns >= "
                                             "e.start_ns AND m.end_ns <= e.end_ns WHERE m.kind = 'module' AND m.name = 'Net'"),
                         "between iterations hooks are in")
        for number, samples, mask in trace.rows("SELECT number, samples, probe_mask FROM iteration"):
            self.assertEqual(4 if mask & bits("torch") else None, samples, number)

    def test_micro_steps_are_in_all_iterations_with_torch(self):
        program = MODEL + f"""
for number in range({COUNT}):
    optimizer.zero_grad()
    for _ in range(2):
        loss = loss_of(batch)
        loss.backward()
    optimizer.step()
    print(loss.item())
"""
        _, (trace,) = self.run_program(program)
        self.nothing_is_wrong(trace)
        self.assertEqual(self.masks(trace, COUNT), trace.rows(MASKS))
        micro = trace.rows("SELECT i.number, i.probe_mask, count(s.id) FROM iteration i LEFT JOIN slice s ON s.kind = 'micro_step' AND "
                           "s.start_ns >= i.start_ns AND s.start_ns < i.start_ns + i.dur_ns GROUP BY i.number")
        self.assertEqual([(number, 2 if mask & bits("torch") else 0) for number, mask, _ in micro][1:],
                         [(number, found) for number, _, found in micro][1:])

    def test_another_tools_hook_is_left_alone(self):
        program = MODEL + f"""
calls = 0
before = nn.Module.__call__
def counting(self, *args, **kwargs):
    global calls
    calls += 1
    return before(self, *args, **kwargs)
for number in range({COUNT}):
    if number == 7:
        nn.Module.__call__ = counting
    if number == {COUNT} - 7:
        assert nn.Module.__call__ is counting
        nn.Module.__call__ = before
    step(batch)
print(calls)
"""
        printed, (trace,) = self.run_program(program)
        self.assertEqual(5 * (COUNT - 14), ast.literal_eval(printed))
        self.nothing_is_wrong(trace)
        on = sum(mask & bits("torch") != 0 for _, mask in trace.rows(MASKS))
        found = dict(((kind, with_torch), count) for kind, with_torch, count, _ in trace.rows(SLICES))
        self.assertEqual((5 * on, None), (found["module", 1], found.get(("module", 0))))

    def test_two_ranks_switch_alike_and_their_collectives_pair(self):
        program = f"""
import time, torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
torch.manual_seed(0)
dist.init_process_group("gloo")
net = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for number in range({COUNT}):
    optimizer.zero_grad()
    loss = net(torch.ones(2, 4)).sum()
    loss.backward()
    optimizer.step()
print(loss.item())
time.sleep(0.2)  # Gloo's threads need the interpreter's lock, which PyTorch 1.13 holds while it waits for them to end.
dist.destroy_process_group()
"""
        _, traces = self.run_program(program, world=2)
        expected = self.masks(traces[0], COUNT)
        for trace in traces:
            self.nothing_is_wrong(trace)
            self.assertEqual(expected, trace.rows(MASKS))
        job = self.folder / "job.sonde"
        merged = torch_job.sonde("merge", "-o", job, *(self.folder / f"rank{rank}.sonde" for rank in range(2)))
        self.assertEqual(0, merged.returncode, merged.stderr)
        trace = torch_job.Trace(job)
        alone = trace.rows("SELECT seq, min(bytes), max(bytes), count(*) FROM v_collective GROUP BY job_key, seq, op HAVING count(*) <> 2 OR "
                           "min(bytes) <> max(bytes)")
        # If one rank began a collective before its switch and the other after it, only one of them recorded it.
        switches = sum(before != after for (_, before), (_, after) in zip(expected, expected[1:]))
        self.assertLessEqual(len(alone), 2 * switches)
        self.assertTrue(all(least == most for _, least, most, _ in alone))


if __name__ == "__main__":
    unittest.main()
