"""The CUDA probe on the simulated device: unified memory, and pools."""
import json
import subprocess
import unittest

from cuda_support import VARIANTS, CudaTest
from run_support import SONDE

MANAGED = """
launch name=a ns=1000
touch bytes=65536
touch bytes=131072 by=host
launch name=b ns=1000 dev=1
touch bytes=4096 dev=1
sync
"""


class Memory(CudaTest):
    MARKS = "SELECT name, start_ns FROM v_slice WHERE category = 'unified_memory'"

    def check_moves(self):
        epoch = self.epoch()
        kinds = {1: ("Memcpy Unified HtoD (Managed -> Managed)", "host_to_device"),
                 2: ("Memcpy Unified DtoH (Managed -> Managed)", "device_to_host")}
        moves = [line for line in self.happened("unified_memory_counter", traced=False) if line["type"] in kinds]
        rows = self.rows("SELECT c.name, c.kind, device, start_ns, dur_ns, bytes, launch_slice_id, a.value FROM v_copy c "
                         "JOIN v_arg a ON a.owner = 'copy' AND a.owner_id = c.id AND a.key = 'cause'")
        self.assert_same([row[:6] for row in rows],
                         [(*kinds[line["type"]], line["device"], line["start"] + epoch, line["end"] - line["start"],
                           line["bytes"]) for line in moves], "moves of pages")
        self.assertEqual({row[6:] for row in rows}, {(None, "coherence")})
        self.assertEqual(self.rows("SELECT DISTINCT r.name FROM copy c JOIN stream r ON r.id = c.stream_id"),
                         [("unified memory",)])
        self.assertEqual(len(moves), 3)

    def test_moves_of_managed_pages_are_copies_where_they_are_asked_for(self):
        for variant in VARIANTS:
            with self.subTest(variant=variant):
                self.script(MANAGED, variant, options=("--cuda-unified-memory", "transfers"))
                self.check_moves()
                self.assertEqual(self.rows(self.MARKS), [])
                self.assertEqual(self.said(), [])

    def test_page_faults_are_marks_where_they_are_asked_for(self):
        self.script(MANAGED, options=("--cuda-unified-memory", "faults"))
        self.check_moves()
        epoch = self.epoch()
        names = {3: "CPU page fault", 4: "GPU page fault"}
        self.assert_same(self.rows(self.MARKS), [
            (names[line["type"]], line["start"] + epoch)
            for line in self.happened("unified_memory_counter") if line["type"] in names], "page faults")
        told = self.rows("SELECT s.name, group_concat(a.key || '=' || a.value, ' ') FROM v_slice s JOIN v_arg a ON "
                         "a.owner = 'slice' AND a.owner_id = s.id AND a.key IN ('access', 'faults', 'instruction') "
                         "WHERE s.category = 'unified_memory' GROUP BY s.id")
        self.assertEqual(set(told), {("CPU page fault", "instruction=4198400 access=write"),
                                     ("GPU page fault", "faults=3 access=write")})

    def test_managed_memory_is_left_alone_unless_it_is_asked_for(self):
        self.script(MANAGED)
        self.assertEqual(self.rows("SELECT (SELECT count(*) FROM copy), (SELECT count(*) FROM kernel)"), [(0, 2)])
        self.assertEqual(self.rows(self.MARKS), [])
        self.assertIn("--cuda-unified-memory transfers", " ".join(self.said()))

    def test_a_device_that_cannot_count_it_is_recorded_without(self):
        self.script(MANAGED, options=("--cuda-unified-memory", "faults"), CUDASIM_NO_UNIFIED_MEMORY="1")
        self.assertEqual(self.rows("SELECT (SELECT count(*) FROM copy), (SELECT count(*) FROM kernel)"), [(0, 2)])
        self.assertEqual(self.said(), ["unified memory is not recorded: CUPTI answers "
                                       "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_DEVICE (29)"])

    def test_pools_have_a_size_and_what_is_used_of_it(self):
        for variant in VARIANTS:
            with self.subTest(variant=variant):
                self.script("alloc name=a bytes=3000000 stream=1 async=1\nalloc name=b bytes=1000 stream=1 async=1\n"
                            "alloc name=c bytes=512\nalloc name=d bytes=777 dev=1 stream=1 async=1\n"
                            "free name=a stream=1 async=1\ntrim bytes=0\nsync\n", variant)
                self.check_pools()

    def check_pools(self):
        epoch = self.epoch()
        told = [line for line in self.happened("memory2", "memory_pool") if "pool" in line]
        for name, key in (("size", "pool_bytes"), ("used", "pool_used")):
            self.assert_same(self.rows("SELECT process_id, device, unit, ts_ns, value FROM v_sample WHERE name = "
                                       f"'CUDA memory pool {name}' AND value > 0"),
                             [(1, line["device"], "bytes", line["start"] + epoch, float(line[key])) for line in told
                              if key in line], f"pool {name}")
        rows = self.rows("SELECT bytes, pool IS NOT NULL, count(DISTINCT pool) FROM allocation WHERE bytes < 4000000 "
                         "GROUP BY 1, 2")
        self.assertEqual(rows, [(512, 0, 0), (777, 1, 1), (1000, 1, 1), (3000000, 1, 1)])
        self.assertEqual(self.rows("SELECT count(DISTINCT pool) FROM allocation"), [(2,)])
        exported = self.folder / "exported.json"
        subprocess.run([SONDE, "export", self.output, "--to", "chrome", "-f", "-o", exported], check=True)
        series = {event["name"] for event in json.loads(exported.read_text())["traceEvents"]
                  if event["ph"] == "C" and event["name"].startswith("CUDA")}
        self.assertEqual(series, {f"CUDA memory pool {what} (gpu {device})" for what in ("size", "used")
                                  for device in (0, 1)})


if __name__ == "__main__":
    unittest.main()
