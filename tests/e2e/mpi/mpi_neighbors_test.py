"""Probe mpi: neighbourhood collectives, of grids and graphs."""
import unittest

from mpi_support import MpiTest

GATHER, EXCHANGE = "neighborallgather", "neighboralltoall"


class Neighbors(MpiTest):
    def of_rank(self, rank):
        return self.rows("SELECT op, dtype, bytes, send_bytes, recv_bytes, root FROM collective c JOIN process p ON "
                         f"p.id = c.process_id WHERE rank = {rank} ORDER BY seq")

    def test_of_a_grid_nobody_lies_beyond_the_edge(self):
        self.job("mpi_neighbors", "grid")
        middle = [(GATHER, "int32", 24, 12, 24, None), (GATHER, "int32", 16, 8, 16, None),
                  (EXCHANGE, "float32", 40, 40, 40, None), (EXCHANGE, "int32", 12, 12, 12, None),
                  (EXCHANGE, None, 20, 20, 20, None)]
        first = [(GATHER, "int32", 12, 12, 12, None), (GATHER, "int32", 8, 8, 8, None),
                 (EXCHANGE, "float32", 20, 20, 20, None), (EXCHANGE, "int32", 8, 4, 8, None),
                 (EXCHANGE, None, 16, 4, 16, None)]
        last = first[:3] + [(EXCHANGE, "int32", 8, 8, 4, None), (EXCHANGE, None, 16, 16, 4, None)]
        self.assertEqual([self.of_rank(rank) for rank in range(4)], [first, middle, middle, last])
        self.assertEqual(self.rows("SELECT name, count(*) FROM v_slice s JOIN collective c ON c.slice_id = s.id GROUP BY 1"),
                         [(f"MPI_Neighbor_{what}", 4) for what in ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")])
        self.assertEqual(self.rows("SELECT DISTINCT n FROM (SELECT count(*) AS n FROM collective c JOIN communicator m ON "
                                   "m.id = c.communicator_id GROUP BY m.job_key, c.seq, c.op)"), [(4,)])
        self.assertEqual(self.rows("SELECT * FROM loss"), [])

    def test_those_that_do_not_block_end_with_their_request(self):
        self.job("mpi_neighbors", "later")
        self.assertEqual(self.calls(), {"MPI_Dist_graph_create_adjacent": 4, "MPI_Waitall": 40, "MPI_Comm_free": 4,
                                        **{f"MPI_Ineighbor_{what}": 40 for what in
                                           ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")}})
        self.assertEqual(self.rows("SELECT op, count(*), count(dur_ns) FROM collective GROUP BY 1"), [(GATHER, 80, 80), (EXCHANGE, 120, 120)])
        self.assertEqual(self.rows("SELECT count(*) FROM collective c WHERE NOT EXISTS (SELECT 1 FROM v_slice s WHERE s.name = "
                                   "'MPI_Waitall' AND s.start_ns + s.dur_ns = c.start_ns + c.dur_ns)"), [(0,)])
        # Rank 0 sends to three and receives from one, rank 1 to one from one, the others to one from two.
        self.assertEqual([self.of_rank(rank)[2][2:5] for rank in range(4)], [(48, 48, 16), (16, 16, 16), (32, 16, 32), (32, 16, 32)])
        self.assertEqual([self.of_rank(rank)[3][2:5] for rank in range(4)], [(12, 12, 4), (4, 4, 4), (8, 4, 8), (8, 4, 8)])

    def test_those_that_are_started_again_and_again(self):
        self.job("mpi_neighbors", "again")
        self.assertEqual(self.rows("SELECT op, send_bytes, count(*), count(dur_ns) FROM collective c JOIN process p ON "
                                   "p.id = c.process_id WHERE rank = 1 GROUP BY 1 ORDER BY 1"),
                         [("allreduce", 28, 5, 5), (GATHER, 12, 5, 5), (EXCHANGE, 40, 5, 5)])
        self.assertEqual(self.rows("SELECT count(*) FROM v_slice WHERE kind = 'api' AND name LIKE 'MPI%Neighbor_all%_init'"), [(8,)])
        self.assertEqual(self.rows("SELECT * FROM loss"), [])

    def test_of_a_graph_without_directions(self):
        self.job("mpi_neighbors", "line")
        self.assertEqual([self.of_rank(rank) for rank in range(4)],
                         [[(GATHER, "int32", 12, 12, 12, None)], [(GATHER, "int32", 24, 12, 24, None)],
                          [(GATHER, "int32", 12, 12, 12, None)], [(GATHER, None, 0, 0, 0, None)]])

    def test_fortran_of_both_kinds(self):
        self.job("mpi_fortran")
        self.assertEqual(self.rows("SELECT op, dtype, send_bytes, recv_bytes, count(*) FROM collective WHERE op LIKE 'neighbor%' "
                                   "GROUP BY 1, 2 ORDER BY 1"), [(GATHER, "int32", 12, 24, 4), (EXCHANGE, "float64", 32, 32, 4)])


if __name__ == "__main__":
    unittest.main()
