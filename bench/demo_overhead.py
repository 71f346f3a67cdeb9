#!/usr/bin/env python3
"""What `sonde run` costs the demo's training iterations: two jobs take turns, one with and one without it.

    bench/demo_overhead.py --sonde build/dev/bin/sonde --pairs 20 --control

A pair is two two-rank runs of scripts/demo/train_ddp.py. Both are alive all the time, but only one runs at once: the
processes of the other (its recorders too) are stopped. They take turns of a second, in changing order, so a machine whose
speed drifts slows both alike. Two bare jobs already differ by a few per cent, for as long as they live, by where their
memory lies: hence many pairs, in which now one and now the other job begins, and --control, which puts a pair of two bare
jobs after each. Each rank has a core of its own, which it shares with its workers and its recorder: where the kernel puts
so many processes changes the iterations by a third.

An iteration lasts from one of a rank's printed lines to the next, as seen by this program; those that a stop cut are left
out. Prints each pair's ratio (the median over its turns, each the ratio of median iterations), the pairs' median and its
95 % interval by bootstrap, and the recorder's own CPU as a share of the recorded job's turns.
"""
import argparse
import os
import pathlib
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "scripts" / "demo" / "train_ddp.py"
WARM_UP = 20  # iterations that load libraries, start workers and fill caches
STEPS = 1_000_000  # more than any bench waits for: the jobs are killed at its end
TICK = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def stat(pid):
    """The fields of /proc/PID/stat after the name: state, parent, ..."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def descendants(roots):
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                children.setdefault(int(stat(entry)[1]), []).append(int(entry))
            except (FileNotFoundError, ProcessLookupError):
                pass  # it has ended
    found = list(roots)
    for pid in found:
        found.extend(children.get(pid, []))
    return found


class Job:
    """A two-rank run, each rank behind `prefix`. Begins, warms up and stops in `with`, and is killed at its end."""

    def __init__(self, prefix, workers):
        self.prefix, self.workers = prefix, workers
        self.lines, self.ranks = [[], []], []  # when each rank printed an iteration, in seconds
        self.processes = []

    def __enter__(self):
        try:
            self._begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_error):
        for pid in reversed(descendants([rank.pid for rank in self.ranks])):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for rank in self.ranks:
            rank.wait()

    def _begin(self):
        port, cores = free_port(), sorted(os.sched_getaffinity(0))
        for rank in range(2):
            environment = dict(os.environ, PYTHONHASHSEED="0", RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2", LOCAL_WORLD_SIZE="2",
                               MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), PYTHONWARNINGS="ignore")
            command = ["taskset", "-c", str(cores[rank % len(cores)]), *self.prefix, "/usr/bin/python3", str(SCRIPT),
                       "--epochs", "1", "--steps", str(STEPS), "--workers", str(self.workers)]
            self.ranks.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True))
            threading.Thread(target=self._read, args=(rank,), daemon=True).start()
        while min(map(len, self.lines)) < WARM_UP:
            if any(rank.poll() is not None for rank in self.ranks):
                sys.exit("demo_overhead: a rank ended before its first iterations")
            time.sleep(0.1)
        self.processes = descendants([rank.pid for rank in self.ranks])
        # `sonde run` is the parent of its command; its own time is the recorder's CPU time.
        self.recorders = [rank.pid for rank in self.ranks if self.prefix]
        self.turns_s = 0.0
        self._signal(signal.SIGSTOP)
        self.recorder_began_s = self._recorder_cpu()

    def _read(self, rank):
        for line in self.ranks[rank].stdout:
            if " step " in line:
                self.lines[rank].append(time.perf_counter())

    def _signal(self, number):
        for pid in self.processes:
            os.kill(pid, number)

    def _recorder_cpu(self):
        return sum(int(ticks) for pid in self.recorders for ticks in stat(pid)[11:13]) / TICK

    def turn(self, seconds):
        """Runs for so long; the median of the iterations that began and ended in that time, in seconds."""
        began = time.perf_counter()
        self._signal(signal.SIGCONT)
        time.sleep(seconds)
        self._signal(signal.SIGSTOP)
        self.turns_s += time.perf_counter() - began
        time.sleep(0.02)  # until the last lines are read
        whole = []
        for lines in self.lines:
            here = [moment for moment in lines if moment >= began]
            # The first step after a stop finds its batch ready and its caches cold.
            whole += [after - before for before, after in zip(here[1:], here[2:])]
        if not whole:
            sys.exit(f"demo_overhead: no whole iteration in {seconds} s: give a longer --turn")
        return statistics.median(whole)

    def recorder_share(self):
        return (self._recorder_cpu() - self.recorder_began_s) / (len(self.ranks) * self.turns_s)


def median_interval(values, share=0.95, rounds=10_000):
    generator = random.Random(1)
    medians = sorted(statistics.median(generator.choices(values, k=len(values))) for _ in range(rounds))
    return medians[int(rounds * (1 - share) / 2)], medians[int(rounds * (1 + share) / 2)]


def measure_pair(prefix, other_begins, arguments):
    """A pair's ratio, of the job behind `prefix` to a bare one, and its recorder's share of a core."""
    bare, watched, ratios = Job([], arguments.workers), Job(prefix, arguments.workers), []
    first, second = (watched, bare) if other_begins else (bare, watched)
    with first, second:
        for turn in range(arguments.turns):
            taken = {job: job.turn(arguments.turn) for job in ((first, second) if turn % 2 else (second, first))}
            ratios.append(taken[watched] / taken[bare])
        return statistics.median(ratios), watched.recorder_share()


def print_ratios(what, ratios):
    low, high = median_interval(ratios)
    print(f"{what}: ratio of median iterations {statistics.median(ratios):.4f} (95 % interval {low:.4f} to {high:.4f}, "
          f"single pairs {min(ratios):.4f} to {max(ratios):.4f}, {len(ratios)} pairs)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sonde", default="build/dev/bin/sonde")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--turns", type=int, default=6, help="of each job of a pair")
    parser.add_argument("--turn", type=float, default=1.0, help="how long a job runs before it is the other's turn, in seconds")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--options", default="", help="further options of `sonde run`")
    parser.add_argument("--control", action="store_true", help="after each pair one of two bare jobs, too: its ratio should be 1")
    arguments = parser.parse_args()
    ratios, shares, controls = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        recorded = [arguments.sonde, "run", "-f", "--spool", folder, "-o", f"{folder}/", *arguments.options.split(), "--"]
        for pair in range(arguments.pairs):
            ratio, share = measure_pair(recorded, pair % 2 == 1, arguments)
            ratios.append(ratio)
            shares.append(share)
            print(f"pair {pair}: ratio {ratio:.4f}", flush=True)
            if arguments.control:
                controls.append(measure_pair([], pair % 2 == 1, arguments)[0])
                print(f"pair {pair}, both bare: ratio {controls[-1]:.4f}", flush=True)
    print_ratios("recorded", ratios)
    if controls:
        print_ratios("both bare", controls)
    print(f"recorder's own CPU: {statistics.median(shares) * 100:.2f} % of one core for each rank")


if __name__ == "__main__":
    main()
