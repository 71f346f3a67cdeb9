#!/usr/bin/env python3
"""What probe stack costs a program: the same work bare, with the probe at several rates, and behind whatever else is named, in
turns.

stack_overhead.py BUILD_FOLDER [ROUNDS] [NAME=COMMAND…]   (COMMAND stands in front of the Python program)
Prints for native and for Python code the CPU time of the program, the ratio to that of the bare one beside it with the lowest
and the highest, and what a sample costs the program and the recorder.
"""
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

PYTHON = """
import time, zlib
def down(n): return sum(i & 7 for i in range(20000)) if n == 0 else down(n - 1)
begin = time.process_time()
for _ in range(4000): down(30)
print(time.process_time() - begin)
"""
RATES = (99, 250, 5000)


def seconds(command):
    output = subprocess.run(command, env=os.environ, check=True, capture_output=True, text=True).stdout
    return float(next(line for line in output.splitlines() if re.fullmatch(r"[\d.]+", line)))


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    programs = {"native": [str(build / "bench/stack_work")], "Python": ["/usr/bin/python3", "-c", PYTHON]}
    with tempfile.TemporaryDirectory() as folder:
        summary = f"{folder}/summary.json"

        def run(rate):
            return [str(build / "bin/sonde"), "run", "-f", "-o", f"{folder}/out.sonde", "--summary", summary, "--sources",
                    "stack", "--stack-rate", str(rate), "--"]
        ways = {"bare": [], **{f"{rate} Hz": run(rate) for rate in RATES}}
        others = {name: command.split() for name, _, command in (other.partition("=") for other in sys.argv[3:])}
        for what, program in programs.items():
            if what == "Python":
                ways.update(others)
            results, samples, recorder = {way: [] for way in ways}, {}, {}
            for _ in range(rounds):
                for way, front in ways.items():
                    results[way].append(seconds([*front, *program]))
                    if way.endswith(" Hz"):
                        told = json.loads(pathlib.Path(summary).read_text())
                        samples[way] = told["events"]["stack_sample"]
                        recorder[way] = told["recorder"]["cpu_s"]
            for way, of_rounds in results.items():
                ratios = sorted(result / base for result, base in zip(of_rounds, results["bare"]))
                line = (f"{what:8} {way:10} {statistics.median(of_rounds):7.3f} s  x {statistics.median(ratios):6.4f}  "
                        f"({ratios[0]:.4f} to {ratios[-1]:.4f})")
                if samples.get(way):
                    extra = statistics.median(of_rounds) * (1 - 1 / statistics.median(ratios))
                    line += (f"  {samples[way]} samples, {extra / samples[way] * 1e6:.1f} us each, and {recorder[way] / samples[way] * 1e6:.0f}"
                             " us of the recorder with all that it does")
                print(line)


if __name__ == "__main__":
    main()
