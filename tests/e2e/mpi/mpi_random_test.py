"""Random programs of MPI: many seeds on 4 ranks, every way to send and to receive, and each message has a size of its own."""
import unittest

from mpi_support import MpiTest
from run_support import SLOW

SEEDS = 100 if SLOW else 30
MESSAGES = 120  # of each


class Random(MpiTest):
    def test_every_send_has_its_receive(self):
        self.job("mpi_random", 1, SEEDS, timeout=250)
        self.check_paired(SEEDS * MESSAGES)
        self.assertGreater(self.rows("SELECT count(*) FROM v_message WHERE any_source")[0][0], SEEDS)
        self.assertGreater(self.rows("SELECT max(bytes) FROM v_message")[0][0], 100_000)


if __name__ == "__main__":
    unittest.main()
