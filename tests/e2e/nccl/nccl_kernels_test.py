"""NCCL's collectives and the kernels that carry them out, on the simulated CUDA device."""
import unittest

from nccl_support import K, NONE, VARIANTS, NcclTest
from run_support import TARGETS

DEVICE_JOB = TARGETS / "nccl_device_job"


@unittest.skipUnless(DEVICE_JOB.exists(), "CUDA tests not built")
class Kernels(NcclTest):
    """On the simulated CUDA device."""
    program = DEVICE_JOB
    DEVICE = {"LD_LIBRARY_PATH": str(TARGETS.parent / "cudasim" / "cuda13")}

    def job(self, *words, **environment):
        return super().job(*words, **self.DEVICE, **environment)

    def joined(self, columns):
        return self.rows(f"SELECT {columns} FROM collective c JOIN v_kernel k ON k.id = c.kernel_id JOIN slice l ON l.id = "
                         "k.launch_slice_id JOIN v_slice around ON around.id = l.parent_id ORDER BY c.process_id, c.start_ns")

    def test_a_call_has_the_kernel_that_was_launched_in_it_and_its_end(self):
        for environment in VARIANTS:
            with self.subTest(environment):
                self.job("each", "compute", "sync", **environment)
                rows = self.joined("c.op, around.id = c.slice_id, c.start_ns + c.dur_ns = k.start_ns + k.dur_ns, "
                                   "replace(replace(k.name, '_Sum_f32', ''), '_RING_LL(ncclDevKernelArgsStorage<4096ul>)', '')")
                expected = [(op, 1, 1, "ncclDevKernel_" + name) for op, name in (
                    ("allreduce", "AllReduce"), ("broadcast", "Broadcast"), ("broadcast", "Broadcast"),
                    ("reduce", "Reduce"), ("allgather", "AllGather"), ("reducescatter", "ReduceScatter"))]
                self.assertEqual(rows, 2 * expected)
                self.assertEqual(self.rows("SELECT count(*) FROM kernel"), [(14,)])
                self.assertEqual(self.rows("SELECT count(*) FROM v_slice WHERE name = 'cuStreamIsCapturing'"), [(0,)])

    def test_in_part_each_call_of_an_iteration_that_is_recorded_has_its_kernel(self):
        for environment in VARIANTS:
            with self.subTest(environment):
                self.job("compute", "steps", "compute", options=("--capture", "iterations:2-3"), **environment)
                self.assertEqual(self.rows("SELECT number, count(*) FROM iteration WHERE probe_mask <> 0 GROUP BY 1"),
                                 [(2, 2), (3, 2)])
                rows = self.rows("SELECT c.process_id, i.number, c.op, count(*), count(c.kernel_id), count(c.dur_ns) FROM "
                                 "collective c JOIN slice s ON s.id = c.slice_id JOIN iteration i ON i.process_id = "
                                 "c.process_id AND c.start_ns BETWEEN i.start_ns AND i.start_ns + i.dur_ns GROUP BY 1, 2, 3")
                self.assertEqual([row[1:] for row in rows], 2 * [(step, op, times, times, times) for step in (2, 3)
                                 for op, times in (("allreduce", 1), ("receive", 2), ("send", 2))])
                self.assertEqual(self.rows("SELECT count(*) FROM collective"), [(20,)])
                self.assertEqual(self.rows("SELECT count(*), count(launch_slice_id) FROM v_kernel"), [(8, 8)])
                self.assertEqual(self.rows("SELECT * FROM loss"), [])

    def test_what_a_group_fused_shares_its_kernel(self):
        for environment in VARIANTS:
            with self.subTest(environment):
                self.job("group", "exchange", "sync", **environment)
                rows = self.joined("around.name, c.op, k.name LIKE '%SendRecv%'")
                self.assertEqual(len(rows), 16)
                self.assertEqual(set(rows), {("ncclGroupEnd", "allreduce", 0), ("ncclGroupEnd", "send", 1),
                                             ("ncclGroupEnd", "receive", 1)})
                self.assertEqual(self.rows("SELECT count(*) FROM collective GROUP BY kernel_id"), 4 * [(4,)])
                self.assertEqual(self.rows("SELECT count(*) FROM collective WHERE dur_ns IS NULL"), [(0,)])

    def test_each_communicator_of_a_group_has_its_own(self):
        for environment in VARIANTS:
            with self.subTest(environment):
                self.job("two", "sync", **environment)
                if environment == NONE:  # nothing tells which is which
                    self.assertEqual(self.rows("SELECT count(*), count(kernel_id) FROM collective"), [(4, 0)])
                    continue
                rows = self.joined("c.process_id, c.bytes, (SELECT number FROM stream WHERE id = k.stream_id)")
                self.assertEqual([size for _, size, _ in rows], [K, 2 * K, K, 2 * K])
                self.assertEqual([rows[1][2] - rows[0][2], rows[3][2] - rows[2][2]], [1, 1])

    def test_a_kernel_that_hung_when_its_communicator_was_aborted_or_revoked_is_no_end(self):
        for word in ("abort", "revoke"):
            for environment in (*VARIANTS[-3:], {"NCCLSIM_NETWORK": "1"}):
                with self.subTest(word, **environment):
                    self.job("once", word, "sync", NCCLSIM_HANG="1", **environment)
                    self.assertEqual(self.rows("SELECT count(*), count(kernel_id), count(dur_ns) FROM collective"), [(2, 2, 0)])
                    self.assertEqual([value for _, value in self.args("aborted")], [1, 1])

    def test_a_communicator_that_does_not_block_is_aborted_without_saying_that_it_was_at_work(self):
        for environment in VARIANTS:
            with self.subTest(environment):
                self.job("each", "settle", "sync", "abort", NCCLSIM_NONBLOCKING="1", **environment)
                self.assertEqual(self.rows("SELECT count(*), count(kernel_id), count(dur_ns) FROM collective"), [(12, 0, 0)])
                self.assertEqual(self.args("aborted"), [])

    def test_newer_functions_have_the_kernel_of_their_sends(self):
        self.job("newer", "sync")
        self.assertEqual(len(self.joined("c.id")), 6)

    def test_a_broadcast_that_the_plugin_is_not_told_of_has_its_kernel(self):
        self.job("broadcasts", "sync")
        self.assertEqual(self.joined("c.op, c.algorithm, k.name LIKE '%AllGatherV%'"),
                         2 * [("allreduce", "RING", 0), ("broadcast", None, 1), ("broadcast", None, 1)])

    def test_collectives_in_symmetric_memory_have_their_kernels(self):
        for environment in VARIANTS[3:]:
            with self.subTest(environment):
                self.job("once", "group", "sync", NCCLSIM_SYMMETRIC="1", **environment)
                self.assertEqual(set(self.joined("k.name LIKE 'ncclSym%DevKernel_AllReduce%'")), {(1,)})
                told = environment.get("NCCLSIM_PLUGIN", "4") > "4"
                self.assertEqual(self.rows("SELECT count(*), count(algorithm), count(kernel_id), count(dur_ns) FROM collective"),
                                 [(10, 10 * told, 10, 10)])

    def test_what_a_copy_engine_moves_has_no_kernel(self):
        self.job("copyengine", "sync", NCCLSIM_COPY_ENGINE="1")
        self.assertEqual(self.rows("SELECT op, algorithm, count(*), count(kernel_id) FROM collective GROUP BY 1 ORDER BY 1"),
                         [("allgather", "CE", 2, 0), ("allreduce", "RING", 2, 2)])

    def test_what_the_plugin_knows_of_the_end_holds(self):
        self.job("once", "sync", NCCLSIM_NETWORK="1")
        self.assertEqual(self.rows("SELECT count(*) FROM collective c JOIN kernel k ON k.id = c.kernel_id WHERE c.dur_ns "
                                   "IS NOT NULL AND c.start_ns + c.dur_ns <> k.start_ns + k.dur_ns"), [(2,)])

    def test_a_captured_call_is_none_and_each_launch_of_its_graph_is_one(self):
        for environment in VARIANTS:
            with self.subTest(environment):
                self.job("once", "graph", "sync", **environment)
                launches = 0 if environment == NONE else 4
                self.assertEqual(self.rows("SELECT count(*), count(kernel_id) FROM collective"), [(2 + launches, 2)])
                self.assertEqual(self.names("api")["ncclAllReduce"], 2)
                told = environment.get("NCCLSIM_PLUGIN", "0") >= "5"
                self.assertEqual(len(self.args("graph")), 4 if told else 0)
                keys = self.rows("SELECT m.job_key, c.seq, count(*) FROM collective c JOIN communicator m ON m.id = "
                                 "c.communicator_id GROUP BY 1, 2")
                self.assertEqual({count for *_, count in keys}, {2})

    def test_the_number_of_a_launch_does_not_depend_on_what_came_first(self):
        for version in ("5", "6"):
            with self.subTest(plugin=version):
                self.job("graphfirst", "graph", "sync", NCCLSIM_PLUGIN=version)
                by_graph = [(2 ** 62 + 32 * at + 4, 2) for at in range(6)]
                self.assertEqual(self.rows("SELECT seq, count(*) FROM collective GROUP BY 1"),
                                 [(4, 2), *by_graph])
                self.assertEqual(self.rows("SELECT count(*) FROM communicator"), [(2,)])


if __name__ == "__main__":
    unittest.main()
