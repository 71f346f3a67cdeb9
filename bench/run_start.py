#!/usr/bin/env python3
"""How much longer a short program takes under `sonde run`, when the costs of recording are known already.

    python3 bench/run_start.py [--sonde build/dev/bin/sonde] [--pairs 20]

Runs `true` and `python3 -c pass`, bare and under `sonde run` in turns, after one run of each that measures what recording
costs. Prints the medians, and the median, least and greatest difference of a pair.
"""
import argparse
import os
import statistics
import subprocess
import tempfile
import time


def seconds(command, environment, folder):
    began = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    return time.perf_counter() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sonde", default="build/dev/bin/sonde")
    parser.add_argument("--pairs", default=20, type=int)
    parser.add_argument("--python", default="/usr/bin/python3")
    arguments = parser.parse_args()
    sonde = os.path.abspath(arguments.sonde)
    for command in (["true"], [arguments.python, "-c", "pass"]):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "XDG_CACHE_HOME": folder}
            recorded = [sonde, "run", "-f", "-o", "out.sonde", "--", *command]
            first = seconds(recorded, environment, folder)
            pairs = [(seconds(command, environment, folder), seconds(recorded, environment, folder))
                     for _ in range(arguments.pairs)]
        more = sorted(with_it - bare for bare, with_it in pairs)
        print(f"{' '.join(command)}: bare {statistics.median(bare for bare, _ in pairs):.3f} s, under sonde run "
              f"{statistics.median(with_it for _, with_it in pairs):.3f} s, {statistics.median(more):.3f} s more "
              f"({more[0]:.3f}–{more[-1]:.3f}); the first run, which measures: {first:.2f} s")


if __name__ == "__main__":
    main()
