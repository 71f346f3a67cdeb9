"""Probe mpi: what programs of C, Fortran and Python do with MPI, row by row."""
import subprocess
import unittest

from mpi_support import MPI, SONDE, MpiTest


class Messages(MpiTest):
    def test_a_ring_of_every_blocking_call(self):
        self.job("mpi_calls", "ring")
        self.assertEqual(self.calls(), {"MPI_Send": 24, "MPI_Ssend": 20, "MPI_Recv": 44, "MPI_Sendrecv": 4,
                                        "MPI_Sendrecv_replace": 4})
        self.check_paired(48)
        sizes = [8 * (k + 1) for k in range(10)]
        self.assertEqual(self.rows("SELECT sender, receiver, tag, ordinal, bytes FROM v_message ORDER BY 1, 3, 4"),
                         [row for rank in range(4)
                          for row in [(rank, (rank + 1) % 4, 5, k, size) for k, size in enumerate(sizes)] +
                          [(rank, (rank + 1) % 4, 6, 0, 12), (rank, (rank + 1) % 4, 7, 0, 16)]])
        # A message is inside the call that moved it; for MPI_Sendrecv one record stands for the call.
        self.assertEqual(self.rows("SELECT count(*) FROM transfer t JOIN slice s ON s.id = t.slice_id "
                                   "WHERE s.start_ns = t.start_ns AND s.dur_ns = t.dur_ns"), [(88,)])

    def test_messages_come_after_they_were_sent(self):
        self.job("mpi_calls", "ring")
        self.assertEqual(self.rows("SELECT count(*) FROM v_message WHERE received_ns < send_ns"), [(0,)])

    def test_a_halo_exchange_that_does_not_block(self):
        self.job("mpi_calls", "halo")
        self.assertEqual(self.calls(), {"MPI_Irecv": 80, "MPI_Isend": 80, "MPI_Waitall": 40})
        self.check_paired(60)
        # From the call that started it to the end of the call that saw it complete.
        self.assertEqual(self.rows(
            "SELECT count(*) FROM v_transfer t WHERE kind = 'mpi' AND NOT EXISTS (SELECT 1 FROM v_slice s WHERE "
            "s.name IN ('MPI_Isend', 'MPI_Irecv') AND s.thread_id = t.thread_id AND s.start_ns = t.start_ns)"), [(0,)])
        self.assertEqual(self.rows(
            "SELECT count(*) FROM v_transfer t WHERE kind = 'mpi' AND direction = 'receive' AND NOT EXISTS (SELECT 1 "
            "FROM v_slice s WHERE s.kind = 'wait' AND s.thread_id = t.thread_id AND s.end_ns = t.end_ns)"), [(0,)])

    def test_receives_from_anybody_are_told_apart(self):
        self.job("mpi_calls", "any-source")
        self.check_paired(36)
        self.assertEqual(self.rows("SELECT sender, ordinal, bytes FROM v_message WHERE any_source ORDER BY 1, 2"),
                         [(rank, k, 4 * (k + 1)) for rank in (1, 2, 3) for k in range(12)])

    def test_receives_of_any_tag_from_one_rank_are_told_apart(self):
        """They are waited for in another order than they came: tag and number are those of what came."""
        self.job("mpi_calls", "any-tag")
        self.assertEqual(self.rows("SELECT sender, receiver, tag, ordinal, bytes FROM v_message ORDER BY 1, bytes"),
                         [(rank, rank ^ 1, 20 + k % 3, k // 3, 4 * (k + 1)) for rank in (1, 3) for k in range(13)])
        self.assertEqual(self.rows("SELECT count(*), sum(any_source), sum(bytes = received_bytes) FROM v_message"),
                         [(26, 26, 26)])
        self.assertEqual(self.rows("SELECT * FROM loss"), [])

    def test_persistent_requests(self):
        self.job("mpi_calls", "persistent")
        self.assertEqual(self.calls(), {"MPI_Send_init": 4, "MPI_Recv_init": 4, "MPI_Start": 40, "MPI_Startall": 20,
                                        "MPI_Wait": 40, "MPI_Waitall": 20, "MPI_Request_free": 8})
        self.check_paired(40)

    def test_probes_that_match_and_requests_that_end_otherwise(self):
        self.job("mpi_calls", "odd")
        self.check_paired(8)
        self.assertEqual(self.rows("SELECT ordinal, bytes FROM v_message WHERE tag = 8 ORDER BY 1"),
                         [(k, 4 * (k + 1)) for k in range(7)])
        self.assertEqual(self.calls()["MPI_Mprobe"], 1)

    def test_a_communicator_that_is_freed_lasts_as_long_as_its_requests(self):
        self.job("mpi_calls", "freed")
        self.check_paired(160)

    def test_communicators_with_the_same_tags_do_not_mix(self):
        self.job("mpi_calls", "tags")
        (messages,), = self.rows("SELECT count(*) FROM v_transfer WHERE kind = 'mpi' AND direction = 'send'")
        self.assertEqual(messages, 4 * 10 * (4 + 3 + 2 + 1) * 5)
        self.check_paired(messages)

    def test_what_mpi_does_not_look_at_is_not_looked_at(self):
        self.job("mpi_calls", "unread")
        self.assertEqual(self.rows("SELECT op, count(*) FROM collective GROUP BY 1 ORDER BY 1"), [("gather", 8), ("scatter", 4)])

    def test_more_requests_than_fit_on_the_stack(self):
        self.job("mpi_calls", "many")
        self.check_paired(2000)

    def test_threads_that_do_not_share_a_tag_are_exact(self):
        self.job("mpi_threads", "apart", ranks=2)
        self.check_paired(800)
        self.assertEqual(self.rows("SELECT tag, count(*), min(bytes), max(bytes) FROM v_message GROUP BY 1"),
                         [(tag, 200, tag + 1, tag + 1) for tag in range(4)])

    def test_threads_that_share_one_are_not_called_exact(self):
        self.job("mpi_threads", "together", ranks=2)
        self.assertEqual(self.rows("SELECT count(*) FROM v_message"), [(800,)])
        self.assertEqual(self.rows("SELECT count(*) FROM v_message WHERE exact AND bytes <> received_bytes"), [(0,)])
        self.assertGreater(self.rows("SELECT count(*) FROM v_transfer WHERE kind = 'mpi' AND NOT exact")[0][0], 0)


class Collectives(MpiTest):
    # op, dtype, bytes, send_bytes, recv_bytes, root of the first rank listed
    EXPECTED = [
        ("barrier", None, 0, 0, 0, None), ("broadcast", "int32", 40, 0, 40, 1), ("reduce", "float64", 40, 40, 0, 2),
        ("allreduce", "float32", 24, 24, 24, None), ("allreduce", "float32", 24, 24, 24, None),
        ("gather", "int32", 48, 12, 48, 0), ("gather", "int32", 40, 4, 40, 0), ("scatter", "int32", 48, 0, 12, 3),
        ("scatter", "int32", None, 0, 16, 3), ("allgather", "int32", 32, 8, 32, None),
        ("allgather", "int32", 32, 8, 32, None), ("allgather", "int32", 40, 4, 40, None),
        ("alltoall", "int32", 64, 64, 64, None), ("alltoall", "int32", None, 40, 16, None),
        ("reducescatter", "int32", 40, 40, 4, None), ("reducescatter", "int32", 32, 32, 8, None),
        ("scan", "int32", 28, 28, 28, None), ("exscan", "int32", 28, 28, 28, None)]

    def of_rank(self, rank):
        return self.rows("SELECT op, dtype, bytes, send_bytes, recv_bytes, root FROM collective c JOIN process p ON "
                         f"p.id = c.process_id WHERE rank = {rank} ORDER BY seq")

    def test_each_has_its_facts(self):
        self.job("mpi_calls", "collectives")
        self.assertEqual(self.of_rank(0), self.EXPECTED)
        by_rank = [self.of_rank(rank) for rank in range(4)]
        self.assertEqual({len(rows) for rows in by_rank}, {len(self.EXPECTED)})
        self.assertEqual(by_rank[1][1][3:5], (40, 0), "the root of the broadcast sends")
        self.assertEqual(by_rank[2][2][3:5], (40, 40), "the root of the reduction receives")
        self.assertEqual(by_rank[3][7][3:5], (48, 12), "the root of the scatter has all")
        self.assertEqual([rows[14][4] for rows in by_rank], [4, 8, 12, 16])
        self.assertEqual(self.rows("SELECT * FROM loss"), [])

    def test_the_ranks_are_joined_by_communicator_and_number(self):
        self.job("mpi_calls", "collectives")
        self.assertEqual(self.rows("SELECT DISTINCT n FROM (SELECT count(*) AS n FROM collective c JOIN communicator m ON "
                                   "m.id = c.communicator_id GROUP BY m.job_key, c.seq)"), [(4,)])
        self.assertEqual(self.rows("SELECT m.position, m.rank, p.rank FROM communicator_member m JOIN process p ON "
                                   "p.id = m.process_id GROUP BY 1, 2, 3 ORDER BY 1"), [(r, r, r) for r in range(4)])

    def test_those_that_do_not_block_end_with_their_request(self):
        self.job("mpi_calls", "nonblocking")
        self.assertEqual(self.calls(), {"MPI_Iallreduce": 80, "MPI_Ibarrier": 80, "MPI_Test": 80, "MPI_Wait": 80})
        self.assertEqual(self.rows("SELECT op, count(*), count(dur_ns) FROM collective GROUP BY 1"),
                         [("allreduce", 80, 80), ("barrier", 80, 80)])
        self.assertEqual(self.rows(
            "SELECT count(*) FROM collective c JOIN slice s ON s.id = c.slice_id WHERE c.dur_ns >= s.dur_ns"), [(160,)])


class Communicators(MpiTest):
    def test_subsets_copies_grids_and_two_groups(self):
        self.job("mpi_calls", "communicators")
        self.check_paired(4 + 4 + 200)
        sizes = self.rows("SELECT size, count(*) FROM (SELECT job_key, size, count(*) AS n FROM communicator "
                          "GROUP BY 1, 2 HAVING n = size OR size = 2) GROUP BY 1")
        # Size 2: two pairs, their copies, the four rows' two, between; size 4: world, grid, merged, idup, 50 copies.
        self.assertEqual(dict(sizes)[4], 54)
        self.assertEqual(self.rows("SELECT count(*) FROM collective c JOIN communicator m ON m.id = c.communicator_id "
                                   "WHERE op = 'allreduce' AND m.size = 2"), [(4,)])
        # Ranks of a pair: place 0 is the higher one.
        self.assertEqual(self.rows("SELECT sender, receiver FROM v_message WHERE tag = 1 AND bytes = 4 AND channel_id IN "
                                   "(SELECT id FROM channel WHERE local LIKE '%.0/0/1' OR local LIKE '%.0/1/0') "
                                   "AND ordinal = 0 GROUP BY 1, 2 ORDER BY 1, 2")[:4], [(0, 1), (1, 0), (2, 3), (3, 2)])


class Programs(MpiTest):
    def test_fortran_of_both_kinds(self):
        self.job("mpi_fortran")
        self.assertEqual(self.calls(), {"MPI_Bcast": 4, "MPI_Irecv": 4, "MPI_Send": 4, "MPI_Wait": 8, "MPI_Allreduce": 4,
                                        "MPI_Sendrecv_replace": 4, "MPI_Cart_create": 8, "MPI_Comm_free": 8,
                                        "MPI_Neighbor_allgather": 4, "MPI_Ineighbor_alltoall": 4})
        self.check_paired(8)
        self.assertEqual(self.rows("SELECT op, dtype, bytes, count(*) FROM collective WHERE op NOT LIKE 'neighbor%' "
                                   "GROUP BY 1, 2, 3 ORDER BY 1"),
                         [("allreduce", "float64", 64, 4), ("broadcast", "int32", 32, 4)])

    def test_what_says_pmpi_is_not_seen(self):
        self.job("mpi_calls", "hidden")
        self.assertEqual(self.calls(), {})

    def test_nothing_when_it_is_off(self):
        self.job("mpi_calls", "ring", sources="annotation,net")
        self.assertEqual(self.calls(), {})
        self.assertEqual(self.rows("SELECT count(*) FROM channel WHERE kind = 'mpi'"), [(0,)])

    def test_one_sonde_for_each_rank_gives_the_same_job(self):
        """As around all: `mpirun sonde run` and merge."""
        self.job("mpi_calls", "ring")
        around = self.rows("SELECT sender, receiver, tag, ordinal, bytes FROM v_message ORDER BY 1, 3, 4")
        folder = self.folder / "ranks"
        command = self.mpirun(SONDE, "run", "-o", f"{folder}/", "--sources", "annotation,mpi", "--",
                              self.program("mpi_calls"), "ring")
        result = subprocess.run(command, env=self.environment, cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, 0, result.stderr)
        traces = sorted(map(str, folder.iterdir()))
        self.assertEqual([trace.rpartition("/")[2] for trace in traces], [f"rank{rank}.sonde" for rank in range(4)])
        merged = self.folder / "job.sonde"
        subprocess.run([SONDE, "merge", "-o", merged, *traces], check=True, capture_output=True)
        self.assertEqual(self.rows("SELECT sender, receiver, tag, ordinal, bytes FROM v_message ORDER BY 1, 3, 4", merged),
                         around)

    def test_the_report_says_that_both_ends_agree(self):
        self.job("mpi_calls", "halo")
        text = subprocess.run([SONDE, "report", self.output], capture_output=True, text=True, check=True).stdout
        self.assertIn("sent and received, byte for byte", text)
        self.assertIn("mpi", text)

    def test_the_library_goes_only_where_mpi_may_be_called(self):
        def mapped(*command, **environment):
            result = self.run_sonde(*command, options=("-f",), env=environment)
            self.assertEqual(result.returncode, 0, result.stderr)
            return "libsonde_mpi.so" in result.stdout
        maps = ("cat", "/proc/self/maps")
        self.assertFalse(mapped(*maps))
        self.assertTrue(mapped(*maps, PMI_RANK="0"))
        self.assertTrue(mapped("python3", "-c", "print(open('/proc/self/maps').read())"))

    def test_python_without_mpi_finds_none(self):
        """A wrapper with nothing behind it fails as MPI does, and does not crash."""
        program = "import ctypes; print(ctypes.CDLL(None).MPI_Init(None, None))"
        result = self.run_sonde("python3", "-c", program, options=("-f",))
        self.assertEqual((result.returncode, result.stdout), (0, "16\n"), result.stderr)

    def test_python_that_loads_mpi_for_itself_alone(self):
        """As mpi4py does: RTLD_LOCAL, where RTLD_NEXT sees nothing."""
        library = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}[MPI]
        program = (f"import ctypes; mpi = ctypes.CDLL('{library}', mode=0); own = ctypes.CDLL(None); "
                   "own.MPI_Init(None, None); own.MPI_Finalize()")
        result = self.run_sonde("python3", "-c", program, options=("-f", "--sources", "annotation,mpi"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.rows("SELECT name FROM v_slice WHERE category = 'mpi' ORDER BY start_ns"),
                         [("MPI_Init",), ("MPI_Finalize",)])


if __name__ == "__main__":
    unittest.main()
