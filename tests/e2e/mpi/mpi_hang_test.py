"""A receive that nobody sends to: the trace has it, and the report says who waits for whom."""
import signal
import unittest

from hang_support import HangTest
from mpi_support import AS_ROOT, MPI, TARGETS


class MpiHang(HangTest):
    def setUp(self):
        super().setUp()
        self.environment.update(AS_ROOT)

    def test_seen_alive_and_killed(self):
        output = self.start(f"mpirun.{MPI}", "-n", "2", TARGETS / f"mpi_hang.{MPI}",
                            options=("--sources", "annotation,mpi"))
        for found in (self.seen_alive(output), self.killed(output, how=signal.SIGTERM)):
            by_rank = {rank["rank"]: rank for rank in found["ranks"]}
            receive, = (call for call in by_rank[0]["open"] if call["kind"] == "receive")
            self.assertEqual((receive["name"], receive["peer"], receive["tag"]), ("MPI_Recv", 1, 42))
            one, = found["collectives"]
            self.assertEqual((one["op"], one["seq"]), ("allreduce", 5))
            self.assertEqual([member["rank"] for member in one["entered"]], [1])
            self.assertEqual([member["rank"] for member in one["absent"]], [0])
            self.assertEqual(one["absent"][0]["last_collective"]["seq"], 4)
        self.assertEqual(self.rows("SELECT kind, dur_ns FROM v_slice WHERE name = 'MPI_Recv'", output), [("api", None)])
        self.assertEqual(self.rows("SELECT count(*) FROM collective WHERE dur_ns IS NULL", output), [(1,)])


if __name__ == "__main__":
    unittest.main()
