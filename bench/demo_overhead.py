#!/usr/bin/env python3
"""What `sonde run` costs the demo's training iterations: with and without it, interleaved, in one run.

    bench/demo_overhead.py --sonde build/dev/bin/sonde --pairs 10

A pair is one two-rank run of scripts/demo/train_ddp.py with `sonde run` around each rank and one without, in changing
order. Each rank has a core of its own, which it shares with its workers and its recorder: where the kernel puts so many
processes changes from run to run, and with it the iterations by a third. An iteration lasts from one of a rank's printed
lines to the next, as seen by this program, so both sides are measured alike. Prints each pair's ratio of median
iterations, their median, and its 95 % interval by bootstrap; and the recorder's own CPU as a share of the ranks' wall
time.
"""
import argparse
import json
import os
import pathlib
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "scripts" / "demo" / "train_ddp.py"
WARM_UP = 3  # iterations of each epoch that load libraries, start workers and fill caches


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def iterations(stream, into):
    """Appends the time between the printed iterations of an epoch, without its first ones."""
    last = None
    for line in stream:
        now = time.perf_counter()
        words = line.split()
        if len(words) < 6 or words[4] != "step":
            continue
        step = int(words[5])
        if last is not None and step > WARM_UP:
            into.append(now - last)
        last = now


def run_ranks(prefix, arguments):
    """Runs both ranks, each behind its `prefix`; the times of their iterations and the wall time of the run."""
    port, times, readers, ranks = free_port(), [], [], []
    cores = sorted(os.sched_getaffinity(0))
    began = time.perf_counter()
    for rank in range(2):
        environment = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2", LOCAL_WORLD_SIZE="2",
                           MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        command = ["taskset", "-c", str(cores[rank % len(cores)]), *prefix(rank), "/usr/bin/python3", str(SCRIPT), "--epochs", "1", "--steps", str(arguments.steps),
                   "--workers", str(arguments.workers)]
        ranks.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        readers.append(threading.Thread(target=iterations, args=(ranks[-1].stdout, times)))
        readers[-1].start()
    for rank in ranks:
        error = rank.stderr.read()
        if rank.wait() != 0:
            sys.exit(f"demo_overhead: a rank failed:\n{error}")
    for reader in readers:
        reader.join()
    return times, time.perf_counter() - began


def median_interval(values, share=0.95, rounds=10_000):
    generator = random.Random(1)
    medians = sorted(statistics.median(generator.choices(values, k=len(values))) for _ in range(rounds))
    return medians[int(rounds * (1 - share) / 2)], medians[int(rounds * (1 + share) / 2)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sonde", default="build/dev/bin/sonde")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--options", default="", help="further options of `sonde run`")
    arguments = parser.parse_args()
    ratios, recorder = [], []
    with tempfile.TemporaryDirectory() as folder:
        def recorded(rank):
            return [arguments.sonde, "run", "-f", "-o", f"{folder}/", "--summary", f"{folder}/{rank}.json",
                    *arguments.options.split(), "--"]

        for pair in range(arguments.pairs):
            sides = {}
            for side in ("bare", "recorded") if pair % 2 else ("recorded", "bare"):
                times, wall = run_ranks(recorded if side == "recorded" else lambda rank: [], arguments)
                sides[side] = statistics.median(times)
                if side == "recorded":
                    spent = sum(json.loads(pathlib.Path(folder, f"{rank}.json").read_text())["recorder"]["cpu_s"]
                                for rank in range(2))
                    recorder.append(spent / (2 * wall))
            ratios.append(sides["recorded"] / sides["bare"])
            print(f"pair {pair}: bare {sides['bare'] * 1e3:.2f} ms, recorded {sides['recorded'] * 1e3:.2f} ms, "
                  f"ratio {ratios[-1]:.4f}", flush=True)
    low, high = median_interval(ratios)
    print(f"ratio of median iterations: {statistics.median(ratios):.4f} (95 % interval {low:.4f} to {high:.4f}, "
          f"{len(ratios)} pairs)")
    print(f"recorder's own CPU: {statistics.median(recorder) * 100:.2f} % of one core for each rank")


if __name__ == "__main__":
    main()
