#!/usr/bin/env python3
"""How well the samples of probe stack agree with what a program with a known call tree spends in each of its 18 paths, on 16 threads.

stack_accuracy.py BUILD_FOLDER [SECONDS [RATE [cpu|wall [THREADS]]]]   (5 of CPU time, each thread's; 250 Hz; cpu; 16)
At rates above 250 the program has one processor alone, so that the recorder, which gives way to everything, has another: what it
does not fetch in time is dropped, and counted.
"""
import math
import pathlib
import re
import subprocess
import sys
import tempfile
from collections import Counter


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    seconds, rate, mode, threads = (*sys.argv[2:], *("5", "250", "cpu", "16")[len(sys.argv) - 2:])
    sonde, targets = build / "bin/sonde", build / "tests/targets"
    with tempfile.TemporaryDirectory() as folder:
        trace = f"{folder}/out.sonde"
        alone = ["taskset", "-c", "0"] if int(rate) > 250 else []
        told = subprocess.run([sonde, "run", "-o", trace, "--sources", "stack", "--stack-rate", rate, "--stack-mode", mode,
                               "--max-size", "8GiB", "--", *alone, targets / "stack_tree", threads, seconds,
                               targets / "libstack_plugin.so"], check=True, capture_output=True, text=True).stdout
        folded = subprocess.run([sonde, "stacks", trace], check=True, capture_output=True, text=True).stdout
    truth = {re.sub(r"(\w+)\*(\d+)", lambda m: ";".join([m[1]] * int(m[2])), path): int(ns)
             for path, ns in re.findall(r"^path (\S+) (\d+)$", told, re.MULTILINE)}
    found, elsewhere, period = Counter(), 0, 1_000_000_000 / int(rate)
    for line in folded.splitlines():
        frames, _, ns = line.rpartition(" ")
        frames = frames.replace("(anonymous namespace)::measured(void (*)(long), long)", "measured")
        path = frames.partition(";threadBody;")[2].removesuffix(";plugged_inner")
        if path in truth:
            found[path] += int(ns) / period
        else:
            elsewhere += int(ns) / period
    total, whole = sum(found.values()), sum(truth.values())
    worst = 0
    for path, ns in sorted(truth.items()):
        share = ns / whole
        sigma = math.sqrt(total * share * (1 - share))
        off = (found[path] - total * share) / sigma
        worst = max(worst, abs(off))
        print(f"{share:8.4%} true  {found[path] / total:8.4%} sampled  {off:+5.2f} standard deviations  {path}")
    print(f"{total:.0f} samples in these paths, {elsewhere:.0f} elsewhere; CPU time of the samples / true: {total * period / whole:.4f}; "
          f"worst {worst:.2f} standard deviations")


if __name__ == "__main__":
    main()
