#!/usr/bin/env python3
"""What probe memory adds to a malloc and its free, and to tensors of PyTorch's: the same programs bare, behind `sonde run`
with the probe off and on, with its library loaded while nobody records, and behind whatever else is named, in turns.

memory_overhead.py BUILD_FOLDER [ROUNDS] [NAME=COMMAND…]   (COMMAND stands in front of the program)
Prints for each of them the median over the rounds, and its ratio to the bare one with the lowest and the highest.
SONDE_TORCH_PYTHON names a Python with torch, /usr/bin/python3 otherwise.
"""
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile


def measured(command, environment):
    output = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    return {name.strip(): float(value) for name, value in re.findall(r"^(.+?)\s+([\d.]+)\s+\(", output, re.MULTILINE)}


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    sonde, library = build / "bin/sonde", build / "lib/sonde/libsonde_memory.so"
    python = os.environ.get("SONDE_TORCH_PYTHON", "/usr/bin/python3")
    programs = [[str(build / "bench/memory_call"), "50"],
                [python, str(pathlib.Path(__file__).resolve().parent / "memory_tensors.py"), "50"]]
    with tempfile.TemporaryDirectory() as folder:
        run = [str(sonde), "run", "-f", "-o", f"{folder}/out.sonde", "--sources"]
        ways = {"bare": [], "probe off": [*run, "annotation", "--"], "loaded, nobody records": ["env", f"LD_PRELOAD={library}"],
                "probe on": [*run, "memory", "--"]}
        for other in sys.argv[3:]:
            name, _, command = other.partition("=")
            ways[name] = command.split()
        results = {way: [] for way in ways}
        for _ in range(rounds):
            for way, front in ways.items():
                results[way].append({})
                for program in programs:
                    results[way][-1].update(measured([*front, *program], os.environ))
    for what in results["bare"][0]:
        bare = [result[what] for result in results["bare"]]
        for way, of_rounds in results.items():
            ratios = sorted(result[what] / base for result, base in zip(of_rounds, bare))
            median = statistics.median(result[what] for result in of_rounds)
            print(f"{what:16} {way:24} {median:9.1f} ns  x {statistics.median(ratios):5.2f}  ({ratios[0]:.2f} to {ratios[-1]:.2f})")


if __name__ == "__main__":
    main()
