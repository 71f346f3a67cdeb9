"""A receive that nobody sends to: the trace has it, and the report says who waits for whom."""
import signal
import unittest

from hang_support import STOP, HangTest
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

    def test_the_rule_names_a_circle_of_a_receive_and_a_collective(self):
        self.write_rules(4)
        output = self.start(f"mpirun.{MPI}", "-n", "2", TARGETS / f"mpi_hang.{MPI}",
                            options=("--sources", "annotation,mpi", *STOP))
        self.assertEqual(self.statuses(), [123])
        status, results = self.check(output)
        self.assertEqual(status, 1)
        self.assertEqual({each["entity"] for each in results}, {"rank 0", "rank 1"})
        by_entity = {each["entity"]: each for each in results}
        self.assertIn("has not entered allreduce 5", by_entity["rank 0"]["message"])
        self.assertIn("waits in a circle", by_entity["rank 1"]["message"])
        self.assertTrue(any("MPI_Recv" in call or "receive" in call
                            for call in by_entity["rank 0"]["evidence"]["open_calls"]))


if __name__ == "__main__":
    unittest.main()
