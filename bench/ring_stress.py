#!/usr/bin/env python3
"""A flight recorder under full load: how much of spool and memory it takes, at most.

    bench/ring_stress.py --build build/dev [--minutes 1] [--last 30s] [--limit 64] [--per-ms 1000]

Records `annotation_numbers` as fast as it annotates (`--per-ms`: in a millisecond or so; `--limit`: of the spool, MiB), looks at spool, recorder and
unfinished trace ten times a second, and dumps once in the middle. Fails when the spool was larger than its limit, records were
lost, or the end of what was counted is not in the trace.
"""
import argparse
import pathlib
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time


def resident(pid):
    """All that is resident, and of that what is the recorder's own: the rest is the spool, which it maps, and programs."""
    found = {}
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        key, _, value = line.partition(":")
        found[key] = value
    return [int(found.get(key, "0").split()[0]) * 1024 for key in ("VmRSS", "RssAnon")]


def size(path):
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def allocated(folder):
    total = 0
    for path in folder.rglob("*.spool"):
        try:
            total += path.stat().st_blocks * 512  # with the file system's own blocks
        except FileNotFoundError:
            pass
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--last", default="30s")
    parser.add_argument("--limit", type=int, default=64)
    parser.add_argument("--per-ms", default="1000")
    options = parser.parse_args()
    sonde, targets = options.build / "bin/sonde", options.build / "tests/targets"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        page, spool, output = folder / "page", folder / "spool", folder / "out.sonde"
        spool.mkdir()
        run = subprocess.Popen([sonde, "run", "-o", output, "--spool", spool, "--spool-limit", f"{options.limit}MiB", "--last", options.last,
                                "--", f"{targets}/annotation_numbers", page, options.per_ms, "exit"])
        end = time.monotonic() + options.minutes * 60
        middle = time.monotonic() + options.minutes * 30
        most_spool = most_memory = most_own = most_trace = 0
        dump = None
        while time.monotonic() < end:
            most_spool = max(most_spool, allocated(spool))
            memory, own = resident(run.pid)
            most_memory, most_own = max(most_memory, memory), max(most_own, own)
            most_trace = max(most_trace, sum(size(folder / f"out{n}.sonde.part{log}") for n in ("", "-1") for log in ("", "-wal")))
            if dump is None and time.monotonic() > middle:
                dump = subprocess.Popen([sonde, "ctl", str(run.pid), "dump"], stdout=subprocess.DEVNULL)
            time.sleep(0.1)
        (folder / "page.stop").touch()
        status = run.wait()
        counted = struct.unpack_from("Q", page.read_bytes())[0]
        trace = sqlite3.connect(f"file:{output}?mode=ro", uri=True)
        newest, rows = trace.execute("SELECT max(value), count(*) FROM arg WHERE owner = 'slice'").fetchone()
        lost = trace.execute("SELECT coalesce(sum(count), 0) FROM loss").fetchone()[0]
        kept = trace.execute("SELECT value FROM meta WHERE key = 'kept_ns'").fetchone()[0]
        print(f"{counted} annotations in {options.minutes:g} min; spool at most {most_spool} of {options.limit << 20} bytes; "
              f"recorder at most {most_memory} bytes of memory while it ran, {most_own} its own; traces at most {most_trace} "
              f"bytes while it ran, {size(output)} at the end; the last {int(kept) / 1e9:.2f} s kept, "
              f"{rows} annotations, {lost} records lost; dumped: {dump is not None and dump.wait() == 0}")
        return 0 if status == 0 and most_spool <= (options.limit << 20) + 65536 and lost == 0 and newest == counted - 1 else 1


if __name__ == "__main__":
    sys.exit(main())
