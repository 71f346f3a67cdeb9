"""`sonde run --calibrate` of MPI programs: requests that last from one iteration to the next, and ranks that pair across switches."""
import unittest

from calibrate_support import bits, mask_of
from mpi_support import MpiTest

BLOCK = 5
COUNT = 41 * BLOCK
RANKS = 4
ASKED = ("annotation", "mpi", "net")


class Calibrate(MpiTest):
    def setUp(self):
        super().setUp()
        result = self.run_sonde(*self.mpirun(self.program("mpi_calibrate"), COUNT, ranks=RANKS),
                                options=("-f", "--sources", ",".join(ASKED), f"--calibrate={BLOCK}"), timeout=120)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.masks = [mask_of(number, BLOCK, ASKED) for number in range(COUNT)]
        self.on = [bool(mask & bits("mpi")) for mask in self.masks]

    def test_all_ranks_switch_alike(self):
        self.assertEqual(self.rows("SELECT number, probe_mask, count(*) FROM iteration GROUP BY 1, 2 ORDER BY 1"),
                         [(number, mask, RANKS) for number, mask in enumerate(self.masks)])
        self.assertEqual(self.rows("SELECT * FROM loss"), [])

    def test_calls_are_recorded_or_counted(self):
        # MPI_Irecv, MPI_Isend, MPI_Allreduce, and, depending on the MPI, MPI_Wait and the messages.
        self.assertEqual(self.rows("SELECT i.number, recorded >= 3, unrecorded >= 3, min(recorded, unrecorded), count(*) FROM probe_call JOIN "
                                   "iteration i ON i.id = iteration_id WHERE probe = 'mpi' GROUP BY 1, 2, 3, 4 ORDER BY 1"),
                         [(number, int(on), int(not on), 0, RANKS) for number, on in enumerate(self.on)])
        self.assertEqual(self.rows("SELECT i.number, count(s.id) FROM iteration i JOIN process p ON p.id = i.process_id LEFT JOIN v_slice s ON "
                                   "s.process_id = p.id AND s.name = 'MPI_Allreduce' AND s.start_ns BETWEEN i.start_ns AND i.start_ns + "
                                   "i.dur_ns GROUP BY 1 ORDER BY 1"),
                         [(number, RANKS * on) for number, on in enumerate(self.on)])

    def test_messages_are_whole_and_their_ends_pair(self):
        # The iteration in which a message is seen complete records it: the one in which it begins, or the next.
        posted = [True] + self.on
        seen = self.on + [True]
        for direction in ("send", "receive"):
            found = self.rows("SELECT bytes, count(*) FROM v_transfer WHERE kind = 'mpi' AND tag = 7 AND direction = "
                              f"'{direction}' GROUP BY 1")
            self.assertTrue(all(count <= RANKS for _, count in found))
            numbers = {size // 8 - 1: count for size, count in found}
            for number in range(COUNT + 1):
                if posted[number] and seen[number]:
                    self.assertEqual(numbers.get(number), RANKS, (direction, number))
                elif not posted[number] and not seen[number]:
                    self.assertNotIn(number, numbers, direction)
        both = sum(one and other for one, other in zip(posted, seen))
        (paired, same, exact), = self.rows("SELECT count(*), sum(bytes = received_bytes), sum(exact) FROM v_message WHERE tag = 7")
        self.assertGreaterEqual(paired, both * RANKS)
        self.assertEqual((same, exact), (paired, paired))

    def test_collectives_pair(self):
        self.assertEqual(self.rows("SELECT members, count(*) FROM (SELECT seq, count(*) AS members FROM v_collective WHERE op = 'allreduce' "
                                   "GROUP BY job_key, seq) GROUP BY 1"), [(RANKS, sum(self.on))])


if __name__ == "__main__":
    unittest.main()
