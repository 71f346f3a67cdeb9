"""Probe mpi: what few programs do, and what goes wrong easily."""
import platform
import unittest

from mpi_support import MPI, MpiTest


class Rare(MpiTest):
    def test_copies_of_a_communicator_that_ranks_wait_for_in_different_orders(self):
        self.job("mpi_rare", "copies")
        self.check_paired(80)

    def test_elements_of_gigabytes(self):
        self.job("mpi_rare", "huge", ranks=1)
        self.assertEqual(self.rows("SELECT op, bytes FROM collective"), [("broadcast", 6 << 30)])

    @unittest.skipUnless(platform.machine() == "x86_64", "the code is for x86-64")
    def test_who_calls_is_looked_up_once_where_no_object_has_the_code(self):
        result = self.job("mpi_rare", "compiled", ranks=1)
        self.assertEqual(self.rows("SELECT op, count(*) FROM collective"), [("barrier", 2001)])
        self.assertIn("\n40 searches\n", "\n" + result.stdout)


class Threads(MpiTest):
    def test_the_environment_may_raise_what_the_program_has_asked_for(self):
        raised = {"OMPI_MPI_THREAD_LEVEL": "3", "MPIR_CVAR_DEFAULT_THREAD_LEVEL": "MPI_THREAD_MULTIPLE"}
        self.environment.update(raised)
        self.job("mpi_threads", "raised", ranks=2)
        self.assertEqual(self.rows("SELECT count(*), count(DISTINCT ordinal) FROM v_message"), [(20000, 20000)])
        self.assertEqual(self.rows("SELECT count(*) FROM v_message WHERE exact AND bytes <> received_bytes"), [(0,)])


if __name__ == "__main__":
    unittest.main()
