"""A job that stands still: its trace has what is open, looked at alive and after it was killed, and the report says since
when, who waits in what, and who has not come."""
import os
import signal
import socket
import subprocess
import time
import unittest

from hang_support import HangTest, report, standstill
from run_support import PATIENCE, SONDE, SOURCES, TARGETS, wait_until

TORCH_PYTHON = os.environ["SONDE_TORCH_PYTHON"]
DEVICE = TARGETS.parent / "cudasim" / "cuda13"


class Gloo(HangTest):
    def ranks(self, *options):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        return [self.start(TORCH_PYTHON, SOURCES / "python" / "hanging_rank.py", name=f"rank{rank}.sonde", options=options,
                           RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
                for rank in range(2)]

    @staticmethod
    def is_in_its_loop(found):
        """Not still beginning: both ranks have been in a collective."""
        return all(rank["last_collective"] for rank in found["ranks"]) and len(found["ranks"]) == 2

    def check(self, found):
        one, = found["collectives"]
        self.assertEqual(one["op"], "allreduce")
        self.assertGreater(one["bytes"], 0)
        self.assertEqual([member["rank"] for member in one["entered"]], [0])
        absent, = one["absent"]
        self.assertEqual(absent["rank"], 1)
        self.assertEqual(absent["last_collective"]["seq"], one["seq"] - 1)
        self.assertGreater(found["ns"], 1e9)
        self.assertLess(found["ns"], found["window_ns"])
        by_rank = {rank["rank"]: rank for rank in found["ranks"]}
        self.assertEqual(by_rank[0]["open"][0]["name"], "gloo:all_reduce")
        self.assertEqual(by_rank[0]["last_collective"]["seq"], one["seq"] - 1)
        self.assertIn("iteration", [call["kind"] for call in by_rank[1]["open"]])

    def check_trace(self, output, seq):
        self.assertEqual(self.rows("SELECT seq, bytes IS NOT NULL, slice_id IS NOT NULL FROM collective WHERE dur_ns IS "
                                   "NULL", output), [(seq, 1, 1)])
        self.assertEqual(self.rows("SELECT job_key, seq FROM v_open_call WHERE collective_id IS NOT NULL", output),
                         [("world", seq)])

    def test_seen_alive_and_killed(self):
        for how in (signal.SIGKILL, signal.SIGTERM):
            with self.subTest(how):
                self.jobs = []
                outputs = self.ranks()
                alive = self.seen_alive(*outputs, knows=self.is_in_its_loop)
                self.check(alive)
                found = self.killed(*outputs, how=how)
                self.check(found)
                self.assertEqual({rank["exit_signal"] for rank in found["ranks"]}, {how})
                self.check_trace(outputs[0], found["collectives"][0]["seq"])
                text = report(*outputs, how="table").splitlines()
                self.assertTrue(text[0].startswith("NO PROGRESS for "), text[0])
                self.assertIn(f"rank 0 waits in all-reduce {found['collectives'][0]['seq']} (", text[1])
                self.assertFalse([line for line in text if "straggler" in line])

    def test_of_one_rank_says_that_the_other_is_not_here(self):
        outputs = self.ranks()
        self.seen_alive(*outputs, knows=self.is_in_its_loop)
        found = standstill(self.part(outputs[0]))
        absent, = found["collectives"][0]["absent"]
        self.assertFalse(absent["recorded"])

    def test_a_flight_recorder_has_it(self):
        outputs = self.ranks("--last", "20s")
        dumps = []

        def dumped():
            for job in self.jobs:
                subprocess.run([SONDE, "ctl", str(job.pid), "dump"], env=self.environment, capture_output=True,
                               timeout=PATIENCE)
            dumps[:] = [max(self.folder.glob(f"rank{rank}-*.sonde"), default=None, key=os.path.getmtime)
                        for rank in range(2)]
            found = all(dumps) and standstill(*dumps)
            return found and self.is_in_its_loop(found)
        wait_until(dumped, "a dump says that the job stands still")
        self.check(standstill(*dumps))
        self.check(self.killed(*outputs))


class Locks(HangTest):
    def test_a_deadlock_names_its_threads(self):
        output = self.start(TARGETS / "two_locks", options=("--sources", "+sync"))
        for found in (self.seen_alive(output, knows=lambda found: found["deadlocks"]), self.killed(output)):
            waits, = found["deadlocks"]
            self.assertEqual([call["name"] for call in waits], 2 * ["pthread_mutex_lock"])
            self.assertEqual(sorted(call["tid"] for call in waits), sorted(call["waits_for_tid"] for call in waits))
            self.assertEqual(len({call["tid"] for call in waits}), 2)
        self.assertEqual(self.rows("SELECT count(*) FROM v_slice WHERE kind = 'wait' AND name = 'pthread_mutex_lock' AND "
                                   "dur_ns IS NULL", output), [(2,)])


@unittest.skipUnless((TARGETS / "nccl_device_job").exists(), "CUDA tests not built")
class Device(HangTest):
    def test_an_all_reduce_that_one_rank_never_called(self):
        environment = {"LD_LIBRARY_PATH": str(DEVICE), "WORLD_SIZE": "2"}
        outputs = [self.start(TARGETS / "nccl_device_job", self.folder / "id", "two", "sync", "hang",
                              name=f"rank{rank}.sonde", RANK=str(rank), **environment) for rank in range(2)]
        def hangs(found):
            """Not still beginning, which takes more than a second on a busy machine."""
            return len(found["ranks"]) == 2 and all("cudaStreamSynchronize" in [call["name"] for call in rank["open"]]
                                                    for rank in found["ranks"])
        for found in (self.seen_alive(*outputs, knows=hangs), self.killed(*outputs)):
            waiting = [one for one in found["collectives"] if one["op"] == "allreduce" and one["absent"]]
            self.assertEqual(len(waiting), 1, found)
            self.assertEqual([member["rank"] for member in waiting[0]["entered"]], [0])
            self.assertEqual([member["rank"] for member in waiting[0]["absent"]], [1])
            for rank in found["ranks"]:
                self.assertIn("cudaStreamSynchronize", [call["name"] for call in rank["open"]])
        self.assertEqual(self.rows("SELECT kind, category, dur_ns FROM v_slice WHERE name = 'cudaStreamSynchronize'",
                                   outputs[0]), [("api", "cuda_runtime", None)])


class Loader(HangTest):
    def test_a_worker_that_died_is_named(self):
        output = self.start(TORCH_PYTHON, SOURCES / "python" / "hanging_loader.py")
        alive = self.seen_alive(output, knows=lambda found: found["lost_processes"])
        time.sleep(1)  # what ends with the job, at most half a second before it, is not lost
        for found in (alive, self.killed(output)):
            rank, = found["ranks"]
            self.assertIn("data_load", [call["kind"] for call in rank["open"]])
            self.assertEqual([lost["of"] for lost in found["lost_processes"]], ["rank 0"])


if __name__ == "__main__":
    unittest.main()
