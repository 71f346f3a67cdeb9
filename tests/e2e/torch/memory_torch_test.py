"""Probe memory: PyTorch's tensors are allocations of their own, in the operation that made them."""
import unittest

from python_support import PYTHON
from run_support import SOURCES, RunTest

SCRIPT = SOURCES / "memory" / "memory_torch.py"
# The bytes in use after each change, as on the schema page.
LIVE = ("SELECT scope_id, bytes, sum(change) OVER (ORDER BY ns, change) AS live FROM (SELECT scope_id, bytes, alloc_ns AS ns, "
        "bytes AS change FROM allocation WHERE allocator = 'torch' UNION ALL SELECT NULL, bytes, free_ns, -bytes FROM allocation "
        "WHERE allocator = 'torch' AND free_ns IS NOT NULL)")


class Tensors(RunTest):
    def record(self, *options):
        result = self.run_sonde(PYTHON, SCRIPT, options=("-f", "--sources", "annotation,memory", *options))
        self.assertEqual(result.returncode, 0, result.stderr)
        told = [line.split() for line in result.stdout.splitlines()]
        self.assertEqual([line for line in told if line[0] == "refused"], [["refused", "0", "0"]])
        return [(operation, int(address), int(size)) for operation, address, size in told if operation != "refused"]

    def of(self, operation):
        return self.rows("SELECT a.address, a.bytes FROM allocation a JOIN v_slice s ON s.id = a.scope_id WHERE "
                         f"a.allocator = 'torch' AND s.name = '{operation}' ORDER BY a.alloc_ns")

    def test_are_allocations_of_the_operation_that_made_them(self):
        told = self.record()
        for operation in ("make", "keep", "pile", "after"):
            with self.subTest(operation):
                self.assertEqual(self.of(operation), [row[1:] for row in told if row[0] == operation])
        ((_, address, size),) = [row for row in told if row[0] == "gradient"]
        self.assertIn((address, size), self.of("gradient"))
        self.assertEqual(self.of("too much"), [])
        self.assertEqual(self.rows("SELECT * FROM loss WHERE probe = 'memory'"), [])

    def test_are_given_back_in_the_operation_that_drops_them(self):
        self.record()
        rows = self.rows("SELECT s.name, d.name, count(*) FROM allocation a JOIN v_slice s ON s.id = a.scope_id LEFT JOIN "
                         "v_slice d ON d.kind = 'operation' AND a.free_ns BETWEEN d.start_ns AND d.end_ns WHERE a.allocator = 'torch' AND "
                         "s.name IN ('make', 'pile') GROUP BY 1, 2")
        self.assertEqual(rows, [("make", "drop", 2), ("pile", "clear", 20)])

    def test_no_block_is_there_twice(self):
        self.record("--memory-threshold", "1000")
        twice = self.rows("SELECT a.address, a.allocator, b.allocator FROM allocation a JOIN allocation b ON b.id <> a.id AND "
                          "b.address = a.address AND b.alloc_ns >= a.alloc_ns AND b.alloc_ns < coalesce(a.free_ns, 1e300)")
        self.assertEqual(twice, [])
        self.assertEqual({who for who, in self.rows("SELECT DISTINCT allocator FROM allocation")}, {"malloc", "torch"})

    def test_the_peak_is_their_sum(self):
        told = self.record()
        sizes = [size for operation, _, size in told if operation == "pile"]
        rows = self.rows(f"SELECT l.bytes, l.live FROM ({LIVE}) l JOIN v_slice s ON s.id = l.scope_id WHERE s.name = 'pile'")
        self.assertEqual(max(live for _, live in rows) - min(live for _, live in rows), sum(sizes[1:]))


if __name__ == "__main__":
    unittest.main()
