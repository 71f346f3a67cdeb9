"""Where a thread's time went: every probe of the host together account for it, in a program and in the demo."""
import json
import subprocess
import unittest

import torch_job
from run_support import SONDE, TARGETS, RunTest

SOURCES = "annotation,torch,gloo,net,io,sync,system"


def main_process_of(trace):
    """The threads of the process that was there for longest, its first thread before the others."""
    report = subprocess.run([SONDE, "report", "--format", "json", trace], capture_output=True, text=True, check=True)
    threads = json.loads(report.stdout)["threads"]
    main = max((thread for thread in threads if thread["tid"] == thread["pid"]), key=lambda thread: thread["wall_ns"])
    return [main] + [thread for thread in threads if thread["pid"] == main["pid"] and thread is not main]


class ThreadTime(RunTest):
    def assert_accounted(self, thread):
        blocked = sum(thread["blocked"].values())
        self.assertEqual(thread["wall_ns"],
                         thread["running_ns"] + thread["runnable_ns"] + blocked + thread["unknown_ns"])
        self.assertLessEqual(thread["unknown_ns"], 0.02 * thread["wall_ns"], thread)

    def test_of_a_program_that_waits_in_many_ways(self):
        result = self.run_sonde(TARGETS / "sync_pauses", options=("-f", "--sources", SOURCES))
        self.assertEqual(result.returncode, 0, result.stderr)
        main, *_ = main_process_of(self.output)
        self.assert_accounted(main)
        # It sleeps for a second and nine times for 20 ms, polls seven times for 20 ms, waits for five children.
        self.assertGreater(main["wall_ns"], 1_000_000_000)
        self.assertGreater(main["blocked"]["sleep_ns"], 1_000_000_000)
        self.assertGreater(main["blocked"]["message_ns"], 100_000_000)
        self.assertGreater(main["blocked"]["join_ns"], 60_000_000)
        self.assertEqual(main["blocked"]["lock_ns"], 0, "each function has its cause")

    def test_is_unknown_where_nobody_looks(self):
        result = self.run_sonde(TARGETS / "sync_pauses", options=("-f", "--sources", "system"))
        self.assertEqual(result.returncode, 0, result.stderr)
        main, *_ = main_process_of(self.output)
        self.assertEqual(sum(main["blocked"].values()) - main["blocked"]["file_ns"], 0)
        self.assertGreater(main["unknown_ns"], 1_000_000_000)

    def test_of_the_demo(self):
        folder = self.folder
        recorder = [torch_job.SONDE, "run", "--sources", SOURCES, "-o", f"{folder}/", "--"]
        command = [torch_job.PYTHON, str(torch_job.ROOT / "scripts/demo/train_ddp.py")]
        for rank in torch_job.run_ranks(command, spool=self.spool, recorder=recorder):
            self.assertEqual(rank.returncode, 0, rank.stderr)
        for rank in range(2):
            threads = main_process_of(folder / f"rank{rank}.sonde")
            self.assertEqual(threads[0]["rank"], rank)
            for thread in threads:
                if thread["wall_ns"] > 1_000_000_000:
                    self.assert_accounted(thread)


if __name__ == "__main__":
    unittest.main()
