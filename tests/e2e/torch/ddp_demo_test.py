"""The demo's training run, recorded on two ranks and merged: what must be in the trace, and that training is the same."""
import collections
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

import torch_job

DEMO = torch_job.ROOT / "scripts/demo/train_ddp.py"
COMMAND = [torch_job.PYTHON, str(DEMO)]
PARTS = ("data_load", "forward", "backward", "optimizer")

# DistributedDataParallel's own report of its buckets, before and after it has rebuilt them: run beside the demo.
BUCKETS = """
import runpy, sys, torch, torch.distributed as dist
demo = runpy.run_path(sys.argv[1], run_name="demo")
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
model = demo["DistributedDataParallel"](demo["Network"](), bucket_cap_mb=1)
for _ in range(3):
    model(torch.zeros(2, 1, demo["SIZE"], demo["SIZE"])).sum().backward()
data = model._get_ddp_logging_data()
for key in ("bucket_sizes", "rebuilt_bucket_sizes"):
    print(data[key].replace(" ", ""))
"""


def setUpModule():
    global FOLDER, BARE, RECORDED, MERGED, JOB
    FOLDER = tempfile.TemporaryDirectory(prefix="sonde-ddp-")
    unittest.addModuleCleanup(FOLDER.cleanup)
    folder = pathlib.Path(FOLDER.name)
    (folder / "spool").mkdir()
    BARE = torch_job.run_ranks(COMMAND)
    RECORDED = torch_job.run_ranks(COMMAND, spool=folder / "spool",
                                   recorder=[torch_job.SONDE, "run", "-o", f"{folder}/", "--"])
    for rank in BARE + RECORDED:
        assert rank.returncode == 0, rank.stderr
    MERGED = torch_job.sonde("merge", "-o", folder / "job.sonde", folder / "rank0.sonde", folder / "rank1.sonde")
    assert MERGED.returncode == 0, MERGED.stderr
    JOB = torch_job.Trace(folder / "job.sonde")


def ranks():
    """(rank, id of its process)"""
    return JOB.rows("SELECT rank, min(id) FROM process WHERE rank IS NOT NULL AND id IN (SELECT process_id FROM iteration)"
                    " GROUP BY rank ORDER BY rank")


class Training(unittest.TestCase):
    def test_output_and_status_are_the_same(self):
        for bare, recorded in zip(BARE, RECORDED):
            self.assertEqual((bare.stdout, bare.returncode), (recorded.stdout, recorded.returncode))
            self.assertEqual("", bare.stderr)
            self.assertIn(".sonde", recorded.stderr)

    def test_recorded_losses_are_the_printed_ones(self):
        for rank, process in ranks():
            printed = [float(value) for value in re.findall(r" loss (\S+)", BARE[rank].stdout)]
            recorded = JOB.rows("SELECT iteration, value FROM scalar JOIN string ON string.id = name_id"
                                " WHERE text = 'loss' AND process_id = ? ORDER BY ts_ns", process)
            self.assertEqual(list(range(len(printed))), [number for number, _ in recorded])
            self.assertEqual([f"{value:.9g}" for value in printed], [f"{value:.9g}" for _, value in recorded])


class Ranks(unittest.TestCase):
    def test_have_their_numbers(self):
        self.assertEqual([(0, 0, 2), (1, 1, 2)],
                         JOB.rows("SELECT rank, local_rank, world_size FROM process WHERE id IN (?, ?) ORDER BY rank",
                                  *[process for _, process in ranks()]))

    def test_have_iterations_with_all_their_parts(self):
        for rank, process in ranks():
            iterations = JOB.rows("SELECT number, slice_id, samples FROM iteration WHERE process_id = ? ORDER BY number",
                                  process)
            self.assertEqual(list(range(30)), [number for number, _, _ in iterations])
            self.assertEqual({32}, {samples for _, _, samples in iterations})
            for number, slice_id, _ in iterations:
                inside = JOB.column("SELECT kind FROM slice WHERE parent_id = ?", slice_id)
                for part in PARTS:
                    self.assertIn(part, inside, f"rank {rank}, iteration {number}")

    def test_evaluations_and_the_checkpoint_are_outside_iterations(self):
        for rank, process in ranks():
            kinds = collections.Counter(JOB.column(
                "SELECT kind FROM slice JOIN thread ON thread.id = thread_id WHERE process_id = ?"
                " AND kind IN ('evaluation', 'checkpoint') AND NOT EXISTS (SELECT 1 FROM iteration i"
                " WHERE i.process_id = thread.process_id AND i.start_ns < slice.start_ns + slice.dur_ns"
                " AND slice.start_ns < i.start_ns + i.dur_ns)", process))
            self.assertEqual({"evaluation": 2, **({"checkpoint": 2} if rank == 0 else {})}, dict(kinds))

    def test_slices_are_no_longer_than_what_is_around_them(self):
        """Of all that is in an iteration: what is directly inside a slice takes no longer than the slice itself."""
        self.assertEqual([], JOB.rows(
            "WITH RECURSIVE below(id, dur_ns) AS (SELECT s.id, s.dur_ns FROM iteration i JOIN slice s ON s.id = i.slice_id"
            " UNION ALL SELECT s.id, s.dur_ns FROM slice s JOIN below ON s.parent_id = below.id AND s.lane = 0)"
            " SELECT b.id, b.dur_ns, sum(c.dur_ns) FROM below b JOIN slice c ON c.parent_id = b.id AND c.lane = 0"
            " GROUP BY b.id HAVING sum(c.dur_ns) > b.dur_ns"))

    def test_report_has_the_parts_that_the_tree_of_slices_has(self):
        said = json.loads(torch_job.sonde("report", "--raw", FOLDER.name + "/job.sonde", "--format", "json").stdout)["ranks"]
        self.assertEqual([0, 1], [rank["rank"] for rank in said])
        for (_, process), rank in zip(ranks(), said):
            median = rank["median_iteration"]
            iteration, duration = JOB.rows("SELECT slice_id, dur_ns FROM iteration WHERE process_id = ? AND number = ?",
                                           process, median["number"])[0]
            self.assertEqual(sorted(JOB.column("SELECT dur_ns FROM iteration WHERE process_id = ?", process))[14], duration)
            own = self.own_times(iteration)
            own["other"] = duration - sum(own.values())
            self.assertEqual({"number": median["number"], "ns": duration, **{f"{part}_ns": ns for part, ns in own.items()}},
                             median)
            for part in PARTS:
                self.assertGreater(own[part], 0, part)

    def own_times(self, iteration):
        """Of each kind of part below a slice, the time that is in no part further inside."""
        own = dict.fromkeys(PARTS, 0)
        around = [(iteration, None)]  # a slice, and the kind of the innermost part that it is in
        while around:
            parent, part = around.pop()
            for slice_id, kind, duration in JOB.rows("SELECT id, kind, dur_ns FROM slice WHERE parent_id = ?", parent):
                if kind in PARTS:
                    own[kind] += duration
                    if part:
                        own[part] -= duration
                around.append((slice_id, kind if kind in PARTS else part))
        return own

    def test_modules_are_named_by_their_path(self):
        names = JOB.column("SELECT DISTINCT text FROM slice JOIN string ON string.id = name_id WHERE kind = 'module'")
        for name in ("DistributedDataParallel", "Network", "features", "features.0", "head", "head.2"):
            self.assertIn(name, names)


class Slices(unittest.TestCase):
    def test_none_crosses_its_parent(self):
        self.assertEqual([], JOB.rows(
            "SELECT child.id, child.kind, parent.kind FROM slice child JOIN slice parent ON parent.id = child.parent_id"
            " WHERE child.start_ns < parent.start_ns OR child.thread_id <> parent.thread_id"
            " OR child.start_ns + child.dur_ns > parent.start_ns + parent.dur_ns"))

    def test_none_overlaps_another_of_its_lane_and_depth(self):
        self.assertEqual([], JOB.rows(
            "SELECT * FROM (SELECT id, start_ns, max(start_ns + dur_ns) OVER (PARTITION BY thread_id, lane, depth"
            " ORDER BY start_ns, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM slice"
            " WHERE dur_ns > 0) WHERE start_ns < before"))

    def test_none_is_open_after_an_orderly_end(self):
        self.assertEqual(0, JOB.value("SELECT count(*) FROM slice JOIN thread ON thread.id = thread_id"
                                      " WHERE dur_ns IS NULL AND process_id IN (?, ?)", *[id for _, id in ranks()]))

    def test_nothing_was_lost(self):
        self.assertEqual([], JOB.rows("SELECT probe, kind, count, reason FROM loss"
                                      " WHERE reason NOT IN ('not followed')"))


class Collectives(unittest.TestCase):
    def test_every_allreduce_has_its_buckets_bytes(self):
        said = subprocess.run([torch_job.PYTHON, "-c", BUCKETS, str(DEMO)], env=torch_job.environment(),
                              capture_output=True, text=True, check=True).stdout.split()
        first, later = (sorted(map(int, line.split(","))) for line in said)
        for rank, process in ranks():
            iterations = JOB.rows("SELECT number, start_ns, start_ns + dur_ns FROM iteration WHERE process_id = ?"
                                  " ORDER BY number", process)
            for number, start, end in iterations:
                sizes = JOB.column("SELECT bytes FROM collective WHERE process_id = ? AND op = 'allreduce'"
                                   " AND start_ns >= ? AND start_ns < ? ORDER BY bytes", process, start, end)
                self.assertEqual(first if number == 0 else later, sizes, f"rank {rank}, iteration {number}")

    def test_recorded_gradients_fill_the_buckets(self):
        for _, process in ranks():
            text, = JOB.column("SELECT value FROM arg JOIN string ON string.id = key_id WHERE owner = 'process'"
                               " AND owner_id = ? AND text = 'sonde.ddp'", process)
            first, limit, *gradients = map(int, text.split())
            buckets, is_open = [], False
            for size in gradients:
                if not is_open:
                    buckets.append(0)
                buckets[-1] += size
                is_open = buckets[-1] < (first if len(buckets) == 1 else limit)
            last, = JOB.rows("SELECT start_ns, start_ns + dur_ns FROM iteration WHERE process_id = ?"
                             " ORDER BY number DESC LIMIT 1", process)
            self.assertEqual(sorted(buckets), JOB.column(
                "SELECT bytes FROM collective WHERE process_id = ? AND op = 'allreduce' AND start_ns >= ? AND start_ns < ?"
                " ORDER BY bytes", process, *last))

    def test_ranks_have_the_same_ones_in_the_same_communicator(self):
        of_rank = [JOB.rows("SELECT c.job_key, c.size, k.seq, k.op, k.bytes FROM collective k"
                            " JOIN communicator c ON c.id = k.communicator_id WHERE k.process_id = ?"
                            " ORDER BY c.job_key, k.seq", process) for _, process in ranks()]
        self.assertGreater(len(of_rank[0]), 60)
        self.assertEqual(*of_rank)
        self.assertIn(("world", 2), {(key, size) for key, size, *_ in of_rank[0]})
        for communicator in JOB.column("SELECT id FROM communicator WHERE job_key = 'world'"):
            self.assertEqual([0, 1], JOB.column("SELECT rank FROM communicator_member WHERE communicator_id = ?"
                                                " ORDER BY position", communicator))


class Channels(unittest.TestCase):
    def spans(self, channel, direction):
        """The stretches of the stream that were moved, joined, and the bytes in them counted one by one."""
        joined, total = [], 0
        for offset, count in JOB.rows("SELECT offset, bytes FROM transfer WHERE channel_id = ? AND direction = ?"
                                      " ORDER BY offset", channel, direction):
            total += count
            if joined and joined[-1][1] == offset:
                joined[-1][1] += count
            else:
                joined.append([offset, offset + count])
        return joined, total

    def test_what_one_rank_sends_the_other_receives(self):
        pairs = JOB.rows(
            "SELECT a.id, b.id FROM channel a JOIN channel b ON b.id = a.peer_channel_id"
            " WHERE a.kind = 'tcp' AND a.process_id <> b.process_id"
            " AND a.process_id IN (?1, ?2) AND b.process_id IN (?1, ?2)", *[process for _, process in ranks()])
        moved = 0
        for sender, receiver in pairs:
            sent, received = self.spans(sender, "send"), self.spans(receiver, "receive")
            self.assertEqual(sent, received, f"channels {sender} and {receiver}")
            if sent[1]:
                self.assertEqual([[0, sent[1]]], sent[0], f"channel {sender} has a hole or an overlap")
            moved += sent[1]
        reduced = JOB.value("SELECT sum(bytes) FROM collective WHERE op = 'allreduce'")
        self.assertGreater(moved, reduced / 2, "the channels between the ranks do not carry the gradients")
        self.assertEqual([], JOB.rows(
            "SELECT c.process_id, c.local, c.remote, c.inherited, t.* FROM transfer t JOIN channel c ON c.id = t.channel_id"
            " WHERE t.exact = 0 AND c.kind = 'tcp' AND c.peer_channel_id IS NOT NULL"))

    def test_data_loader_workers_are_processes_with_pipes(self):
        for rank, process in ranks():
            workers = JOB.column("SELECT id FROM process WHERE parent_id = ?", process)
            self.assertEqual(8, len(workers), f"rank {rank}: 2 workers for each of 4 passes")
            for worker in workers:
                pipes = JOB.rows(
                    "SELECT c.local, b.process_id FROM channel c LEFT JOIN channel b ON b.id = c.peer_channel_id"
                    " WHERE c.process_id = ? AND c.kind = 'pipe' AND c.inherited = 1 AND EXISTS (SELECT 1 FROM transfer"
                    " WHERE channel_id = c.id)", worker)  # a pipe of its own: a current PyTorch has one, never read
                self.assertGreater(len(pipes), 0, f"worker {worker} moved nothing through a pipe")
                for pipe, peer in pipes:
                    self.assertEqual(process, peer, f"{pipe} of worker {worker}")


if __name__ == "__main__":
    unittest.main()
