"""`sonde align` and `sonde merge` find how far the clocks of two hosts differ. Here the hosts are one machine: the second
rank's clocks are shifted (SONDE_TEST_CLOCK), and its trace gets another boot id."""
import contextlib
import json
import os
import socket
import sqlite3
import subprocess
import unittest

from run_support import PATIENCE, SONDE, RunTest

AHEAD_NS, DRIFT_PPB = 7_000_000, 40_000
EXCHANGES = 300
# Two ranks that send each other bytes in turns.
JOB = f"""import os, socket, time
address, rank = os.environ["ADDRESS"], int(os.environ["RANK"])
if rank == 0:
    server = socket.create_server((address, 0))
    open(os.environ["PORT"] + ".new", "w").write(str(server.getsockname()[1]))
    os.rename(os.environ["PORT"] + ".new", os.environ["PORT"])
    peer = server.accept()[0]
else:
    while not os.path.exists(os.environ["PORT"]):
        time.sleep(0.01)
    peer = socket.create_connection((address, int(open(os.environ["PORT"]).read())))
fastest = 1 << 62
for exchange in range({EXCHANGES}):
    asked = time.monotonic_ns()
    if rank == 0:
        peer.sendall(b"question")
    assert peer.recv(100)
    if rank == 1:
        peer.sendall(b"answer")
    fastest = min(fastest, time.monotonic_ns() - asked)
    time.sleep(0.002)
if rank == 0:
    print(fastest)
"""


def own_address():
    """An address of this machine that other hosts could reach, since connections of 127.0.0.1 stay inside a host."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("203.0.113.1", 9))
        except OSError:
            return None
        return probe.getsockname()[0]


@contextlib.contextmanager
def slow_link(test):
    """Two network namespaces with a link of 100 Mbit/s between them."""
    spaces = [f"sonde-align{os.getpid()}-{rank}" for rank in range(2)]
    try:
        if subprocess.run(["ip", "netns", "add", spaces[0]], capture_output=True, check=False).returncode:
            test.skipTest("not run: making network namespaces needs root")
        commands = [f"ip netns add {spaces[1]}", f"ip -n {spaces[0]} link add rank type veth peer name rank netns {spaces[1]}"]
        for rank, space in enumerate(spaces):
            commands += [f"ip -n {space} link set lo up", f"ip -n {space} address add 10.98.0.{rank + 1}/24 dev rank",
                         f"ip -n {space} link set rank up",
                         f"tc -n {space} qdisc add dev rank root tbf rate 100mbit burst 16kb latency 50ms"]
        for command in commands:
            subprocess.run(command.split(), check=True, capture_output=True)
        yield spaces
    finally:
        for space in spaces:
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)


class AlignTest(RunTest):
    def setUp(self):
        super().setUp()
        self.traces = [self.folder / f"rank{rank}.sonde" for rank in range(2)]

    def record(self, sources="annotation,net", spaces=None, clock=f"{AHEAD_NS},{DRIFT_PPB}"):
        """Returns the fastest round trip. `spaces`: a network namespace for each rank."""
        address = "10.98.0.1" if spaces else own_address()
        if address is None or address.startswith("127."):
            self.skipTest("not run: this machine has no address but 127.0.0.1")
        jobs = []
        for rank, trace in enumerate(self.traces):
            environment = {**self.environment, "ADDRESS": address, "PORT": str(self.folder / "port"), "RANK": str(rank),
                           "WORLD_SIZE": "2"}
            if rank == 1:
                environment["SONDE_TEST_CLOCK"] = clock
            inside = ["ip", "netns", "exec", spaces[rank]] if spaces else []
            jobs.append(subprocess.Popen([*inside, SONDE, "run", "-o", trace, "--sources", sources, "--", "python3", "-c", JOB],
                                         env=environment, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        printed = []
        for job in jobs:
            out, errors = job.communicate(timeout=PATIENCE)
            self.assertEqual(job.returncode, 0, errors)
            printed.append(out)
        with sqlite3.connect(self.traces[1]) as trace:
            trace.execute("UPDATE host SET boot_id = 'another', name = 'second'")
        return int(printed[0])

    def sonde(self, *words):
        return subprocess.run([SONDE, *map(str, words)], env=self.environment, capture_output=True, text=True,
                              timeout=PATIENCE)

    def assert_aligned(self, host):
        self.assertEqual(host["host"], "second")
        # In the few seconds since the clock began to drift it gained less than a millisecond.
        self.assertLess(abs(host["offset_ns"] + AHEAD_NS), 1_000_000 + host["error_ns"])
        self.assertGreaterEqual(host["messages"], 2 * EXCHANGES - 10)
        self.assertLess(host["residual_ns"], 100_000)

    def test_the_shift_is_found_stored_and_used(self):
        self.record()
        found = self.sonde("align", "--format", "json", *self.traces)
        self.assertEqual(found.returncode, 0, found.stderr)
        result = json.loads(found.stdout)
        self.assertEqual((result["schema"], result["unconnected"]), (1, []))
        self.assert_aligned(result["hosts"][1])

        job = self.folder / "job.sonde"
        merged = self.sonde("merge", "-o", job, *self.traces)
        self.assertIn("clocks: 2 hosts aligned, residual ", merged.stdout)
        stored = self.rows("SELECT offset_ns FROM clock_map JOIN host ON host.id = host_id WHERE name = 'second'", job)
        self.assertEqual(stored[0][0], result["hosts"][1]["offset_ns"])
        early = "SELECT count(*) FROM {0} r JOIN channel c ON c.id = r.channel_id JOIN {0} s ON s.channel_id = " \
            "c.peer_channel_id AND s.direction = 'send' AND s.offset = r.offset WHERE r.direction = 'receive' AND " \
            "c.kind = 'tcp' AND r.start_ns + r.dur_ns < s.start_ns"
        self.assertGreaterEqual(self.rows(early.format("transfer"), job)[0][0], EXCHANGES - 10)
        self.assertEqual(self.rows(early.format("v_transfer"), job)[0][0], 0)

        origin = self.rows("SELECT value FROM meta WHERE key = 'origin_ns'", job)
        with sqlite3.connect(job) as trace:
            trace.execute("DELETE FROM clock_map")
            trace.execute("UPDATE meta SET value = '0' WHERE key = 'origin_ns'")
        self.assertEqual(self.sonde("align", "--store", job).returncode, 0)
        self.assertEqual(self.rows("SELECT offset_ns FROM clock_map JOIN host ON host.id = host_id WHERE name = 'second'",
                                   job), stored)
        self.assertEqual(self.rows("SELECT value FROM meta WHERE key = 'origin_ns'", job), origin)

    def test_over_a_link_of_100_mbit_the_error_is_within_the_round_trip(self):
        with slow_link(self) as spaces:
            round_trip = self.record(spaces=spaces, clock=str(AHEAD_NS))
        found = self.sonde("align", "--format", "json", *self.traces)
        self.assertEqual(found.returncode, 0, found.stderr)
        host = json.loads(found.stdout)["hosts"][1]
        self.assertEqual(host["host"], "second")
        self.assertLessEqual(abs(host["offset_ns"] + AHEAD_NS), round_trip)

    def test_who_shares_nothing_is_named(self):
        self.record(sources="annotation")
        found = self.sonde("align", "--format", "json", *self.traces)
        self.assertEqual(found.returncode, 4)
        self.assertIn("shares no message or collective with second", found.stderr)
        self.assertEqual(json.loads(found.stdout)["unconnected"], ["second"])
        self.assertEqual(self.sonde("align", self.traces[0]).returncode, 0)
        self.assertEqual(self.sonde("align", "--store", *self.traces).returncode, 2)
        self.assertEqual(self.sonde("align", self.folder / "missing.sonde").returncode, 3)


if __name__ == "__main__":
    unittest.main()
