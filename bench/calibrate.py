#!/usr/bin/env python3
"""What is left of Sonde in the iterations in which `sonde run --calibrate` has its probes off.

    bench/calibrate.py BUILD_FOLDER [--pairs 12] [--blocks 120] [CASE…]

A pair is two processes of one program, bare and under `sonde run --calibrate`, on the same core. They take turns by blocks of ten
iterations, in changing order, so that a machine whose speed drifts slows both alike: this program says when. An iteration's time is
its thread's processor time as the program itself reads it: the clock would have the machine's other work in it. The first of a
block, in which probes are switched and caches are cold, is left out. The median iteration of a block is compared with that of the
other process's block beside it, apart for blocks with all probes on, with none and with some (the trace says which); a pair's figure
is the median over its blocks. Printed is the median over the pairs with its 95 % interval by bootstrap, and the lowest and highest
pair. Two processes of one program already differ by where their memory lies: `control` is a second bare one in the place of the
recorded one.
"""
import argparse
import os
import pathlib
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile

BLOCK = 10
NEVER = 1 << 0 | 1 << 1 | 1 << 5 | 1 << 14  # annotation nvtx process system

TORCH = """
import sys, time
import torch
torch.set_num_threads(1)
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(128, 256), torch.nn.ReLU(), torch.nn.Linear(256, 128), torch.nn.ReLU(), torch.nn.Linear(128, 8))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
data, target = torch.ones(256, 128), torch.ones(256, 8)
def step():
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(net(data), target).backward()
    optimizer.step()
blocks, block = int(sys.argv[1]), int(sys.argv[2])
for _ in range(blocks):
    if not sys.stdin.readline():
        break
    times = []
    for _ in range(block):
        begin = time.thread_time_ns()
        step()
        times.append(time.thread_time_ns() - begin)
    print(*times, flush=True)
"""


def cases(build):
    """Name -> the program, and what the recording is asked for."""
    torch = ["/usr/bin/python3", "-c", TORCH]
    return {
        "torch": (torch, []),
        "torch-much": (torch, ["--sources", "+python,+sync,+io,+memory", "--torch-operators", "names"]),
        "calls": ([str(build / "bench/calibrate_calls")], ["--sources", "annotation,net,io,sync"]),
    }


class Program:
    def __init__(self, command, blocks):
        core = sorted(os.sched_getaffinity(0))[0]
        self.process = subprocess.Popen(["taskset", "-c", str(core), *command, str(blocks), str(BLOCK)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.blocks = []

    def turn(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        times = [float(time) for time in self.process.stdout.readline().split()]
        self.blocks.append(statistics.median(times[1:]))

    def end(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            sys.exit(f"{self.process.args} failed")


def pair(command, recorder, blocks):
    """Medians of the blocks of both."""
    bare, other = Program(command, blocks), Program([*recorder, *command], blocks)
    for _ in range(blocks):
        for one in random.sample((bare, other), 2):
            one.turn()
    for one in (bare, other):
        one.end()
    return bare.blocks, other.blocks


def kinds_of(trace, blocks):
    """Of each block "on", "off" or "mixed"."""
    with sqlite3.connect(f"file:{trace}?mode=ro", uri=True) as database:
        masks = dict(database.execute("SELECT number, probe_mask FROM iteration").fetchall())
    full = masks[0]
    kinds = {full: "on", full & NEVER: "off"}
    return [kinds.get(masks[block * BLOCK + 1], "mixed") for block in range(blocks)]


def interval(values):
    medians = sorted(statistics.median(random.choices(values, k=len(values))) for _ in range(2000))
    return medians[50], medians[1949]


def show(name, kind, pairs):
    """`pairs`: (ratio, ns more, ns of a bare iteration) of each."""
    ratios = [ratio for ratio, _, _ in pairs]
    low, high = interval(ratios)
    print(f"{name:11} {kind:8} {statistics.median(bare for _, _, bare in pairs) / 1e3:8.0f} us  "
          f"{statistics.median(more for _, more, _ in pairs) / 1e3:+8.1f} us  x {statistics.median(ratios):.4f}  "
          f"({low:.4f} to {high:.4f}; pairs {min(ratios):.4f} to {max(ratios):.4f})", flush=True)


def measure(name, command, options, build, arguments):
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        trace = f"{folder}/out.sonde"
        recorder = [str(build / "bin/sonde"), "run", "-f", "-o", trace, f"--calibrate={BLOCK}", *options, "--"]
        for _ in range(arguments.pairs):
            for front in (recorder, []):
                bare, other = pair(command, front, arguments.blocks)
                kinds = kinds_of(trace, arguments.blocks) if front else ["control"] * arguments.blocks
                for kind in set(kinds):
                    both = [(one, two) for one, two, its in list(zip(bare, other, kinds))[2:] if its == kind]
                    found.setdefault(kind, []).append(
                        (statistics.median(two / one for one, two in both), statistics.median(two - one for one, two in both),
                         statistics.median(one for one, _ in both)))
    for kind in ("control", "off", "mixed", "on"):
        show(name, kind, found[kind])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--blocks", type=int, default=120)
    arguments = parser.parse_intermixed_args()
    build = arguments.build.resolve()
    for name, (command, options) in cases(build).items():
        if not arguments.cases or name in arguments.cases:
            measure(name, command, options, build, arguments)


if __name__ == "__main__":
    main()
