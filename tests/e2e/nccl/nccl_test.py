"""NCCL's calls, from `sonde run` to the rows: two ranks as two processes on a stand-in for NCCL (tests/ncclsim), with the
profiler plugin interface in each of its versions, and without it."""
import unittest

from nccl_support import K, NONE, VARIANTS, VERSIONS, NcclTest
from run_support import TARGETS

BROADCASTS = 2  # of a rank in `each`; version 6 is not told of them
FACTS = "op, seq, dtype, bytes, send_bytes, recv_bytes, root, peer"


def facts_of(rank):
    """What `each exchange group splits` calls: name, op, seq, bytes, sent and received bytes, root, peer."""
    is_root = rank == 1
    other = 1 - rank
    yield "ncclAllReduce", "allreduce", 4, K, K, K, None, None
    yield "ncclBroadcast", "broadcast", 0, K, K * is_root, K, 1, None
    yield "ncclBcast", "broadcast", 32, K, K * is_root, K, 1, None
    yield "ncclReduce", "reduce", 1, K, K, K * is_root, 1, None
    yield "ncclAllGather", "allgather", 2, 2 * K, K, 2 * K, None, None
    yield "ncclReduceScatter", "reducescatter", 3, 2 * K, 2 * K, K, None, None
    for number in range(2):
        yield "ncclSend", "send", number, K, K, 0, None, other
        yield "ncclRecv", "receive", number, K, 0, K, None, other
    for number, size in enumerate((K, 4 * K, 2 * K, K), 1):
        yield "ncclAllReduce", "allreduce", 32 * number + 4, size, size, size, None, None
    yield "ncclAllReduce", "allreduce", 4, K, K, K, None, None


class Calls(NcclTest):
    def check_rank(self, process, rank):
        rows = self.rows("SELECT s.name, c.op, c.seq, c.bytes, c.send_bytes, c.recv_bytes, c.root, c.peer FROM collective "
                         f"c JOIN v_slice s ON s.id = c.slice_id WHERE c.process_id = {process} ORDER BY c.start_ns")
        self.assertEqual(rows, list(facts_of(rank)))
        self.assertEqual(self.rows(f"SELECT DISTINCT dtype FROM collective WHERE process_id = {process}"), [("float32",)])

    def test_each_is_one_row_whoever_tells_of_it(self):
        for environment in VARIANTS:
            with self.subTest(environment):
                self.job("each", "exchange", "group", "splits", **environment)
                ranks = self.ranks()
                self.assertEqual([rank for _, rank in ranks], [0, 1])
                for process, rank in ranks:
                    self.check_rank(process, rank)
                self.assertEqual(self.rows("SELECT * FROM loss"), [])
                told = environment != NONE
                untold = "'send', 'receive'" + (", 'broadcast'" if environment.get("NCCLSIM_PLUGIN") == "6" else "")
                self.assertEqual(self.rows("SELECT DISTINCT algorithm IS NOT NULL FROM collective WHERE op NOT IN "
                                           f"({untold})"), [(told,)])
                self.assertEqual(len(self.args("grouped")), 16)
                channels = self.rows("SELECT DISTINCT a.value * 4096 = c.bytes FROM collective c JOIN v_arg a ON a.owner = "
                                     "'collective' AND a.owner_id = c.id AND a.key = 'channels' WHERE c.op = 'allreduce'")
                self.assertEqual(channels, [(1,)] if told else [])

    def test_their_slices_are_on_the_threads_that_made_them(self):
        self.job("each", "group")
        self.assertEqual(self.rows("SELECT count(*) FROM collective c JOIN slice s ON s.id = c.slice_id JOIN thread t ON "
                                   "t.id = s.thread_id JOIN process p ON p.id = t.process_id WHERE s.kind = 'collective' "
                                   "AND t.tid = p.pid AND s.start_ns = c.start_ns AND s.dur_ns IS NOT NULL"), [(20,)])
        self.assertEqual(self.names("api"), {"ncclCommInitRank": 2, "ncclGroupEnd": 2, "ncclCommFinalize": 2,
                                             "ncclCommDestroy": 2})

    def test_communicators_are_the_same_on_every_rank(self):
        for environment in VARIANTS:
            with self.subTest(environment):
                self.job("once", "splits", **environment)
                keys = self.rows("SELECT job_key, count(*), min(size), max(size) FROM communicator GROUP BY 1")
                self.assertEqual([row[1:] for row in keys], [(2, 2, 2), (2, 2, 2)])
                members = self.rows("SELECT DISTINCT position, rank FROM communicator_member ORDER BY 1")
                self.assertEqual(members, [(0, 0), (1, 1)])
                joined = self.rows("SELECT count(*) FROM collective a JOIN communicator m ON m.id = a.communicator_id JOIN "
                                   "communicator n ON n.job_key = m.job_key AND n.id > m.id JOIN collective b ON "
                                   "b.communicator_id = n.id AND b.seq = a.seq")
                self.assertEqual(joined, [(2,)])

    def test_ranks_that_one_thread_has(self):
        for environment in VARIANTS:
            with self.subTest(environment):
                self.job("all", ranks=1, **environment)
                rows = self.rows("SELECT m.job_key, c.seq FROM collective c JOIN communicator m ON m.id = "
                                 "c.communicator_id")
                self.assertEqual(len(rows), 2)
                self.assertEqual(len(set(rows)), 1)
                self.assertTrue(rows[0][0].startswith("nccl:"))
                self.assertNotIn("unknown", rows[0][0])

    def test_one_that_grew_is_known_and_its_parents_children_are_counted(self):
        for environment in VARIANTS:
            with self.subTest(environment):
                self.job("grows", "splits", **environment)
                told = environment != NONE
                self.assertEqual(self.rows("SELECT count(*), count(algorithm) FROM collective"), [(4, 4 * told)])
                self.assertEqual(self.rows("SELECT DISTINCT m.size FROM collective c JOIN communicator m ON m.id = "
                                           "c.communicator_id"), [(2,)])
                self.assertEqual(self.rows("SELECT count(DISTINCT position) FROM communicator_member"), [(2,)])

    def test_the_key_of_one_that_ranks_do_not_share_is_of_its_process(self):
        self.job("grows", **NONE)
        rows = self.rows("SELECT m.job_key, p.pid FROM communicator m JOIN process p ON p.id = m.process_id WHERE m.job_key "
                         "LIKE 'nccl:unknown:%'")
        self.assertEqual(len(rows), 2)
        for key, pid in rows:
            self.assertRegex(key, rf"^nccl:unknown:0x[0-9a-f]+:{pid}:[0-9]+$")

    def test_communicators_of_newer_functions_are_the_same_on_every_rank(self):
        for word, name in (("shrinks", "ncclCommShrink"), ("scalable", "ncclCommInitRankScalable")):
            for environment in VARIANTS:
                with self.subTest(word, **environment):
                    self.job("once", word, **environment)
                    self.assertEqual(self.names("api")[name], 2)
                    keys = self.rows("SELECT m.job_key, m.size, count(*) FROM collective c JOIN communicator m ON m.id = "
                                     "c.communicator_id GROUP BY 1, 2")
                    self.assertEqual([row[1:] for row in keys], [(2, 2), (2, 2)])
                    self.assertNotIn("unknown", "".join(key for key, *_ in keys))

    def test_a_communicator_that_could_not_be_destroyed_goes_on(self):
        for environment in VARIANTS:
            with self.subTest(environment):
                self.job("keeps", **environment)
                self.assertEqual(self.rows("SELECT seq, count(*) FROM collective GROUP BY 1"), [(4, 2), (36, 2)])
                self.assertEqual(self.rows("SELECT count(*) FROM communicator"), [(2,)])

    def test_calls_that_are_alike_are_their_communicators(self):
        for environment in VARIANTS[3:]:
            with self.subTest(environment):
                self.job("alike", **environment)
                told = environment != NONE
                self.assertEqual(self.rows("SELECT count(*), count(algorithm) FROM collective"), [(16, 16 * told)])

    def test_a_crowd_of_calls_in_a_group_is_found_or_counted(self):
        for environment in VARIANTS:
            with self.subTest(environment):
                self.job("others", ranks=1, WORLD_SIZE="2", **environment)
                self.assertEqual(self.rows("SELECT count(*) FROM collective"), [(3000,)])
                self.job("crowd", ranks=1, WORLD_SIZE="2", **environment)
                unfound = 36 if environment.get("NCCLSIM_PLUGIN", "5") < "5" else 0
                self.assertEqual(self.rows("SELECT count(*) FROM collective"), [(100 + unfound,)])
                self.assertEqual(self.rows("SELECT coalesce(sum(count), 0) FROM loss WHERE reason = 'definitions'"),
                                 [(unfound,)])

    def test_newer_functions_are_one_row_though_many_sends(self):
        for environment in ({"NCCLSIM_PLUGIN": "5"}, {"NCCLSIM_PLUGIN": "6"}, NONE):
            with self.subTest(environment):
                self.job("newer", **environment)
                self.assertEqual(self.rows("SELECT op, count(*), min(bytes), max(bytes) FROM collective GROUP BY 1"),
                                 [("alltoall", 2, 2 * K, 2 * K), ("gather", 2, 2 * K, 2 * K), ("scatter", 2, 2 * K, 2 * K)])

    def test_a_call_without_elements_takes_no_others_place(self):
        for environment in VARIANTS:
            with self.subTest(environment):
                self.job("nosize", **environment)
                self.assertEqual(self.rows("SELECT bytes, algorithm IS NOT NULL, count(*) FROM collective GROUP BY 1, 2"),
                                 [(0, 0, 2), (K, environment != NONE, 2)])

    def test_a_call_that_fails_is_no_collective(self):
        result = self.job("fails", ranks=1, WORLD_SIZE="2")
        self.assertEqual(result.stdout, "4\n")
        self.assertEqual(self.rows("SELECT count(*) FROM collective"), [(0,)])
        self.assertEqual(self.rows("SELECT s.name, s.kind, a.value FROM v_slice s JOIN v_arg a ON a.owner = 'slice' AND "
                                   "a.owner_id = s.id AND a.key = 'result'"), [("ncclAllReduce", "api", 4)])

    def test_what_fails_or_is_simulated_takes_no_number(self):
        for environment in VARIANTS:
            with self.subTest(environment):
                result = self.job("failsin", ranks=1, WORLD_SIZE="2", **environment)
                self.assertEqual(result.stdout, "4\n4\n4\n")
                self.assertEqual(self.rows("SELECT op, seq FROM collective ORDER BY start_ns"), [("allreduce", 4), ("send", 0)])
                self.assertEqual(self.rows("SELECT count(*) FROM slice WHERE kind = 'collective'"), [(2,)])
                self.assertEqual(self.args("grouped"), [])

    def test_what_is_no_communicator_takes_no_place(self):
        self.job("nocomm", ranks=1, WORLD_SIZE="2")
        self.assertEqual(self.rows("SELECT seq, bytes FROM collective"), [(4, K)])
        self.assertEqual(self.rows("SELECT (SELECT count(*) FROM communicator), (SELECT count(*) FROM loss)"), [(1, 0)])

    def test_sends_to_the_same_rank_and_of_nothing_are_one_row(self):
        for environment in VARIANTS:
            with self.subTest(environment):
                self.job("exchange", "nosend", ranks=1, WORLD_SIZE="1", **environment)
                self.assertEqual(self.rows("SELECT op, seq, bytes FROM collective ORDER BY op, seq"), [
                    ("receive", 0, K), ("receive", 1, K), ("send", 0, K), ("send", 1, K), ("send", 2, 0)])

    def test_calls_that_do_not_block(self):
        for environment in VARIANTS:
            with self.subTest(environment):
                self.job("each", "group", "settle", NCCLSIM_NONBLOCKING="1", **environment)
                version = environment.get("NCCLSIM_PLUGIN")
                told = 0 if environment == NONE else 20 - 2 * BROADCASTS * (version == "6")
                self.assertEqual(self.rows("SELECT count(*), count(algorithm) FROM collective"), [(20, told)])

    def test_a_user_without_the_source_gets_neither_library(self):
        self.job("each", options=("--sources", "-nccl"))
        self.assertEqual(self.rows("SELECT (SELECT count(*) FROM collective), (SELECT count(*) FROM slice WHERE category = "
                                   "'nccl')"), [(0, 0)])


class Plugin(NcclTest):
    def test_the_end_and_the_steps_are_of_the_call(self):
        for version in VERSIONS:
            with self.subTest(plugin=version):
                self.job("each", "group", NCCLSIM_PLUGIN=version, NCCLSIM_NETWORK="1")
                told = 20 - 2 * BROADCASTS * (version == "6")
                self.assertEqual(self.rows("SELECT count(*), count(dur_ns) FROM collective"), [(20, told)])
                self.assertEqual(self.rows("SELECT collective_id IS NULL, count(*) FROM transfer GROUP BY 1"), [(0, 4 * told)])
                self.assertEqual(self.rows("SELECT DISTINCT count(*) FROM transfer GROUP BY collective_id"), [(4,)])
                self.assertEqual(self.rows("SELECT count(*) FROM channel WHERE peer_channel_id IS NULL AND kind = 'nccl'"),
                                 [(0,)])

    def test_what_was_in_flight_when_its_communicator_was_aborted_says_so(self):
        self.job("once", "settle", "abort", NCCLSIM_NETWORK="1", NCCLSIM_HANG="1")
        for fact in ("aborted", "unfinished"):
            self.assertEqual([value for _, value in self.args(fact)], [1, 1])
        self.assertEqual(self.rows("SELECT count(*), count(dur_ns) FROM collective"), [(2, 0)])
        self.assertEqual(self.names("api")["ncclCommAbort"], 2)

    def test_where_nothing_tells_ends_nothing_is_said_to_have_been_aborted(self):
        for environment in (*VARIANTS, {"NCCLSIM_NONBLOCKING": "1"}):
            with self.subTest(environment):
                self.job("each", "settle", "abort", **environment)
                self.assertEqual(self.rows("SELECT count(*), count(dur_ns) FROM collective"), [(12, 0)])
                self.assertEqual(self.rows("SELECT count(*) FROM v_arg WHERE key = 'aborted_ns'"), [(2,)])
                self.assertEqual(self.args("aborted"), [])

    def test_what_ended_before_its_communicator_was_aborted_does_not(self):
        self.job("each", "settle", "abort", NCCLSIM_NETWORK="1")
        self.assertEqual(self.args("aborted"), [])
        self.assertEqual(self.rows("SELECT count(*), count(dur_ns) FROM collective"), [(12, 12 - 2 * BROADCASTS)])
        self.assertEqual(self.rows("SELECT count(*) FROM v_arg WHERE owner = 'communicator' AND key = 'aborted_ns'"), [(2,)])

    def test_one_that_outlives_thousands_of_another_communicator_has_its_end_and_steps(self):
        result = self.run_sonde(TARGETS / "nccl_traps", "4", "outlives")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.rows("SELECT count(*), count(dur_ns) FROM collective"), [(9001, 9001)])
        self.assertEqual(self.rows("SELECT count(*) FROM transfer t JOIN collective c ON c.id = t.collective_id JOIN "
                                   "communicator m ON m.id = c.communicator_id WHERE m.job_key = 'nccl:0000000000000077'"),
                         [(1,)])
        self.assertEqual(self.rows("SELECT * FROM loss"), [])

    def test_a_process_that_leaves_at_once_has_its_calls(self):
        self.job("group", "leave")
        self.assertEqual(self.rows("SELECT count(*) FROM collective"), [(10,)])


if __name__ == "__main__":
    unittest.main()
