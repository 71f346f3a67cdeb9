#!/usr/bin/env python3
"""A long recording: whether its trace stays inside --max-size, with whole iterations and everything else counted.

    bench/long_run.py --build build/dev --count 20000000 --seconds 600 --max-size 256MiB

Records bench/long_job, which does COUNT operations in SECONDS, 200 to an iteration, and looks at the trace's size ten times a
second. Every iteration has a row; one that is recorded in full has all of its operations, one in outline none. Fails when
the trace was ever larger than its limit and 1 MiB, or an operation is neither stored nor of an outline nor counted as lost.
"""
import argparse
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import time

SLICES = 200
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def size_of(folder):
    total = 0
    for path in folder.glob("out.sonde*"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            pass  # renamed, or the log is gone
    return total


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/dev", type=pathlib.Path)
    parser.add_argument("--count", default=20_000_000, type=int)
    parser.add_argument("--seconds", default=600.0, type=float)
    parser.add_argument("--max-size", default="256MiB", help="in KiB, MiB or GiB")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    number, unit = re.fullmatch(r"(\d+)([KMG]iB)", arguments.max_size).groups()
    limit = int(number) * UNITS[unit]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        output = folder / "out.sonde"
        began = time.monotonic()
        run = subprocess.Popen([arguments.build / "bin/sonde", "run", "-o", output, "--sources", "annotation",
                                "--max-size", arguments.max_size, "--", arguments.build / "bench/long_job",
                                str(arguments.count), str(arguments.count / arguments.seconds if arguments.seconds else 0)])
        most = 0
        while run.poll() is None:
            most = max(most, size_of(folder))
            time.sleep(0.1)
        took = time.monotonic() - began
        trace = sqlite3.connect(f"file:{output}?mode=ro", uri=True)

        def value(query):
            return trace.execute(query).fetchone()[0]

        iterations = value("SELECT count(*) FROM iteration")
        full = value("SELECT count(*) FROM iteration WHERE probe_mask <> 0")
        cut = value("SELECT count(*) FROM (SELECT i.id, count(s.id) AS found FROM iteration i LEFT JOIN slice s"
                    " ON s.parent_id = i.slice_id WHERE i.probe_mask <> 0 GROUP BY i.id HAVING found <> %d)" % SLICES)
        stored = value("SELECT count(*) FROM slice WHERE kind = 'operation'")
        lost = value("SELECT coalesce(sum(count), 0) FROM loss")
        expected = arguments.count // SLICES
        whole = iterations == expected and stored == full * SLICES
        print(f"{arguments.count} operations in {took:.0f} s: trace {output.stat().st_size} of {limit} bytes, at most {most} "
              f"while it was made; {iterations} of {expected} iterations, {full} in full, {cut} of them cut; "
              f"{stored} operations stored, {(iterations - full) * SLICES} in outline, {lost} records lost")
        for (text,) in trace.execute("SELECT text FROM note WHERE text LIKE '%iteration%' ORDER BY id"):
            print("  note:", text)
        return 0 if run.returncode == 0 and max(most, output.stat().st_size) <= limit + (1 << 20) and (whole or lost) else 1


if __name__ == "__main__":
    sys.exit(main())
