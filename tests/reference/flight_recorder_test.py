"""What `sonde check` finds in dumps of PyTorch's NCCL flight recorder of 16 ranks into which faults were injected, beside
the log of the injection; and what `sonde import` makes of the dumps, beside Python's own pickle module.
"""
import json
import os
import pathlib
import pickle
import re
import sqlite3
import subprocess
import tempfile
import unittest

SONDE = os.environ["SONDE_BIN"]
DUMPS = pathlib.Path(os.environ.get("SONDE_REFERENCE_DATA") or "/nonexistent") / "flight_recorder"
CASES = ("gpu_error_1st", "lock_gil_1st")
RANKS = range(16)


class FlightRecorder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not DUMPS.is_dir():
            raise unittest.SkipTest("skipped: reference data not present")
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = pathlib.Path(cls.scratch.name)
        for case in CASES:
            done = subprocess.run([SONDE, "import", "-o", cls.folder / f"{case}.sonde",
                                   *(DUMPS / case / f"_dump_{rank}" for rank in RANKS)], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr

    def check(self, case):
        done = subprocess.run([SONDE, "check", self.folder / f"{case}.sonde", "--format", "json"], capture_output=True,
                              text=True)
        return json.loads(done.stdout)["results"]

    def test_hang_names_the_injected_ranks_and_nobody_else(self):
        for case in CASES:
            log = (DUMPS / case / "fault_injection.log").read_text()
            injected = {f"rank {rank}" for rank in re.findall(r"^Rank (\d+), fault_type", log, re.M)}
            self.assertEqual(len(injected), 2, log)
            named = {result["entity"] for result in self.check(case)
                     if result["rule"] == "hang" and result["verdict"] == "fired"}
            self.assertEqual(named, injected, case)

    def test_uneven_all_to_alls_are_no_mismatch(self):
        for case in CASES:
            verdicts = [result["verdict"] for result in self.check(case) if result["rule"] == "collective-mismatch"]
            self.assertEqual(verdicts, ["pass"], case)

    def test_rows_are_what_the_pickles_have(self):
        for case in CASES:
            trace = sqlite3.connect(f"file:{self.folder / case}.sonde?mode=ro", uri=True)
            for rank in RANKS:
                with (DUMPS / case / f"_dump_{rank}").open("rb") as file:
                    dump = pickle.load(file)
                expected = [(entry["time_created_ns"],
                             None if entry["is_p2p"] else entry["collective_seq_id"],
                             "{1} {0}".format(*entry["process_group"]),
                             json.loads(dump["pg_config"][entry["process_group"][0]]["ranks"]))
                            for entry in dump["entries"]]
                rows = trace.execute(
                    "SELECT c.start_ns, c.seq, m.job_key, (SELECT json_group_array(b.rank) FROM communicator_member b "
                    "WHERE b.communicator_id = m.id) FROM collective c JOIN communicator m ON m.id = c.communicator_id "
                    "JOIN process p ON p.id = c.process_id WHERE p.rank = ? ORDER BY c.id", (rank,)).fetchall()
                self.assertEqual([(*row[:3], json.loads(row[3])) for row in rows], expected, f"{case} rank {rank}")
                groups = trace.execute("SELECT count(*) FROM communicator m JOIN process p ON p.id = m.process_id WHERE "
                                       "p.rank = ?", (rank,)).fetchone()
                self.assertEqual(groups, (len(dump["pg_config"]),))

    def test_the_last_completed_number_is_found_by_local_id(self):
        trace = sqlite3.connect(f"file:{self.folder}/gpu_error_1st.sonde?mode=ro", uri=True)
        numbers = trace.execute(
            "SELECT p.rank, a.value FROM communicator m JOIN process p ON p.id = m.process_id JOIN arg a ON a.owner = "
            "'communicator' AND a.owner_id = m.id JOIN string k ON k.id = a.key_id WHERE k.text = 'last_completed' AND "
            "m.job_key LIKE 'TENSOR_MODEL%' AND p.rank >= 12 ORDER BY p.rank").fetchall()
        self.assertEqual(numbers, [(12, 42805), (13, 42817), (14, 42805), (15, 42818)])

    def test_each_cut_of_a_dump_is_refused(self):
        whole = (DUMPS / "lock_gil_1st" / "_dump_14").read_bytes()
        cut, trace = self.folder / "cut", self.folder / "cut.sonde"
        for size in range(1, len(whole), 13):
            cut.write_bytes(whole[:size])
            done = subprocess.run([SONDE, "import", "-o", trace, cut], capture_output=True, text=True)
            self.assertEqual(done.returncode, 3, f"{size}: {done.stderr}")
            self.assertIn(str(cut), done.stderr)
            self.assertFalse(trace.exists())


if __name__ == "__main__":
    unittest.main()
