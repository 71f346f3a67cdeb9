#!/usr/bin/env python3
"""How fast `sonde import` reads a torch.profiler file, and with how much memory, beside Python's `json`.

    bench/make_kineto.py --bytes 1e9 kineto.json
    bench/import_kineto.py --sonde build/release/bin/sonde --rounds 5 kineto.json
    bench/import_kineto.py --sonde build/release/bin/sonde --rounds 7 --json --hta hta/bin/python diff_control.json.gz

Everything runs on one core. A round is one import and, with --json, one `json.load` of the same file (which a tool in
Python begins with), with --hta one loading of it by HolisticTraceAnalysis (`pip install HolisticTraceAnalysis` into a
virtual environment, whose Python is given), in changing order. Prints the CPU time and wall time of each, MB of JSON a
second by the wall, and the peak of memory; and the ratios of the rounds' medians.
"""
import argparse
import gzip
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

LOAD = "import gzip, json, sys; f = sys.argv[1]; json.load(gzip.open(f) if f.endswith('.gz') else open(f, 'rb'))"

HTA = """import logging, sys
logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis
TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir='')"""


def size_of(path):
    """Bytes of JSON in the file."""
    if not path.endswith(".gz"):
        return os.path.getsize(path)
    with gzip.open(path) as stream:
        return sum(len(part) for part in iter(lambda: stream.read(1 << 20), b""))


def measure(command):
    """Wall seconds, CPU seconds and peak bytes of a command, on the first core there is."""
    core = min(os.sched_getaffinity(0))
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=lambda: os.sched_setaffinity(0, {core}))
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"import_kineto.py: {command[0]} ended with status {status}")
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sonde", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="also json.load, side by side")
    parser.add_argument("--hta", metavar="PYTHON", help="also HolisticTraceAnalysis, in this Python, side by side")
    parser.add_argument("file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        commands = {"sonde import": [arguments.sonde, "import", "-f", "-o", pathlib.Path(folder) / "t.sonde", arguments.file]}
        if arguments.json:
            commands["json.load"] = [sys.executable, "-c", LOAD, arguments.file]
        if arguments.hta:
            commands["HTA"] = [arguments.hta, "-c", HTA, arguments.file]
        results = {name: [] for name in commands}
        for at in range(arguments.rounds):
            for name in list(commands)[:: 1 if at % 2 == 0 else -1]:
                results[name].append(measure(commands[name]))
    size = size_of(arguments.file)
    medians = {}
    for name, runs in results.items():
        walls, cpus, peaks = zip(*runs)
        medians[name] = statistics.median(walls)
        print(f"{name:13} {medians[name]:7.2f} s ({min(walls):.2f}–{max(walls):.2f}), CPU {statistics.median(cpus):.2f} s, "
              f"{size / 1e6 / medians[name]:.0f} MB/s, peak {max(peaks) / 2**20:.0f} MiB")
    for name in list(commands)[1:]:
        print(f"{name} ÷ sonde import: {medians[name] / medians['sonde import']:.2f}")


main()
