"""Probe mpi: communicators between processes that did not begin together, and out of groups."""
import unittest

from mpi_support import MPI, MpiTest

NONE = "Debian's MPICH, of UCX, has no dynamic processes"


class Worlds(MpiTest):
    def check_channels(self, messages):
        """All messages are there, sent and received, on channels of a communicator that is known."""
        self.assertEqual(self.rows("SELECT direction, count(*) FROM v_transfer WHERE kind = 'mpi' GROUP BY 1 ORDER BY 1"),
                         [("receive", messages), ("send", messages)])
        self.assertEqual(self.rows("SELECT count(*) FROM v_transfer t WHERE kind = 'mpi' AND NOT EXISTS (SELECT 1 FROM communicator c "
                                   "WHERE c.process_id = t.process_id AND t.local LIKE c.job_key || '/%')"), [(0,)])
        self.assertEqual(self.rows("SELECT count(*) FROM collective WHERE communicator_id IS NULL"), [(0,)])
        self.assertEqual(self.rows("SELECT * FROM loss"), [])

    @unittest.skipIf(MPI == "mpich", NONE)
    def test_spawned_processes_have_a_world_of_their_own(self):
        self.job("mpi_worlds", "spawn", ranks=2)
        self.check_channels(4 * (5 + 5 + 2))
        # Each world's own messages are paired correctly …
        self.assertEqual(self.rows("SELECT bytes, received_bytes, exact, count(*) FROM v_message WHERE bytes BETWEEN 10 AND 30 GROUP BY 1, 2, 3"),
                         [(10 + k, 10 + k, 1, 2) for k in range(5)] + [(20 + k, 20 + k, 1, 2) for k in range(5)])
        # … and no uncertain message between the worlds, or in the merged one, is marked as exact.
        self.assertEqual(self.rows("SELECT exact, count(*) FROM v_transfer WHERE kind = 'mpi' AND bytes < 10 GROUP BY 1"), [(0, 40)])
        self.assertEqual(self.rows("SELECT bytes, exact, count(*) FROM v_transfer WHERE kind = 'mpi' AND bytes >= 40 GROUP BY 1, 2"),
                         [(40, 1, 8), (41, 0, 8)])
        self.assertEqual(self.rows("SELECT count(*) FROM v_message WHERE exact AND bytes <> received_bytes"), [(0,)])
        self.assertEqual(self.rows("SELECT count(*) FROM collective WHERE op = 'barrier'"), [(4,)])

    @unittest.skipIf(MPI == "mpich", NONE)
    def test_two_that_have_joined_are_of_one_world(self):
        self.job("mpi_worlds", "join", ranks=2)
        self.check_paired(10)

    @unittest.skipIf(MPI == "openmpi", "Open MPI 4 has no MPI_Intercomm_create_from_groups")
    def test_two_groups_without_a_communicator(self):
        self.job("mpi_worlds", "halves")
        self.assertEqual(self.calls()["MPI_Intercomm_create_from_groups"], 4)
        self.check_paired(20)
        self.check_channels(20)


@unittest.skipIf(MPI == "openmpi", "Open MPI 4 has no MPI_Session_init")
class Sessions(MpiTest):
    """A program of MPI 4 may have no MPI_COMM_WORLD."""

    def test_messages_and_collectives_without_a_world(self):
        self.job("mpi_sessions", "alone")
        self.assertEqual(self.calls(), {"MPI_Session_init": 4, "MPI_Comm_create_from_group": 4, "MPI_Sendrecv": 20, "MPI_Barrier": 4,
                                        "MPI_Comm_free": 4, "MPI_Session_finalize": 4})
        self.check_paired(20)
        self.assertEqual(self.rows("SELECT m.position, m.rank, p.rank FROM communicator_member m JOIN process p ON "
                                   "p.id = m.process_id GROUP BY 1, 2, 3 ORDER BY 1"), [(r, r, r) for r in range(4)])

    def test_one_session_after_the_other(self):
        self.job("mpi_sessions", "twice")
        self.check_paired(20 + 28)
        self.assertEqual(self.calls()["MPI_Session_finalize"], 12)

    def test_a_world_outlasts_the_session(self):
        self.job("mpi_sessions", "both")
        self.check_paired(12)
        self.assertEqual(self.rows("SELECT count(*) FROM v_slice WHERE name = 'MPI_Finalize'"), [(4,)])


if __name__ == "__main__":
    unittest.main()
