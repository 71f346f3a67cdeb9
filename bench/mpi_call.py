#!/usr/bin/env python3
"""What recording a call of MPI costs: bare, under `sonde run --sources mpi`, in a pause of such a run and, where it is installed, under EZTrace, in turn.

    bench/mpi_call.py BUILD_FOLDER [ROUNDS]

Prints for each MPI, operation and way the median over the rounds in ns a call, with the quartiles, and the ratio to bare, round
by round. 8 bytes, two ranks on one machine. Last: the load average, at the begin and at the end.
"""
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

LIBRARIES = pathlib.Path("/usr/lib") / f"{os.uname().machine}-linux-gnu"
QUIET = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def ways(build, mpi, folder):
    launch = [f"mpirun.{mpi}", "-n", "2"]
    program = [str(build / "bench" / f"mpi_call.{mpi}")]
    yield "bare", [*launch, *program]
    record = [str(build / "bin/sonde"), "run", "-f", "-o", f"{folder}/t.sonde", "--sources", "mpi"]
    yield "sonde", [*record, "--", *launch, *program]
    yield "paused", [*record, "--delay", "1h", "--", *launch, *program]
    if shutil.which("eztrace") and (LIBRARIES / f"libeztrace-{mpi}.so").exists():
        yield "eztrace", [*launch, "eztrace", "-o", f"{folder}/ez", "-t", mpi, *program]


def run(command, folder):
    shutil.rmtree(f"{folder}/ez", ignore_errors=True)
    result = subprocess.run(command, env={**os.environ, **QUIET}, cwd=folder, capture_output=True, text=True, timeout=300)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {result.stderr}")
    lines = (line.split() for line in result.stdout.splitlines() if line.startswith("MPI_"))
    return {words[0]: float(words[1]) for words in lines}


def spread(values, form):
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return f"{middle:{form}} ({low:{form}}–{high:{form}})"


def main():
    before = os.getloadavg()[0]
    build = pathlib.Path(sys.argv[1]).resolve()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    for mpi in ("openmpi", "mpich"):
        found = {}
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(rounds):
                for way, command in ways(build, mpi, folder):
                    for operation, ns in run(command, folder).items():
                        found.setdefault(operation, {}).setdefault(way, []).append(ns)
        for operation, by_way in found.items():
            for way, values in by_way.items():
                ratios = [value / bare for value, bare in zip(values, by_way["bare"])]
                print(f"{mpi:8} {operation:32} {way:8} {spread(values, '.1f')} ns  × {spread(ratios, '.3f')}", flush=True)
    print(f"load average {before:.1f}, {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
