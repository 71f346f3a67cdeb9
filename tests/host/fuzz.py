#!/usr/bin/env python3
"""Runs random sequences of libc calls bare and under `sonde run`, and says where they differ.

    fuzz.py --minutes 45 --sources all --state FILE     goes on from the last seed, and adds the time up
    fuzz.py --seconds 30 --today --sources default      a short run, from a seed that is another one each day
    fuzz.py --seed 1234 --sources all                   one sequence; with both logs where they differ
    fuzz.py --table --sources all                       each function with each kind of bad argument

A difference is one that comes again: sequences whose bare runs differ from one another say nothing. What was found is
printed, kept in the state with its seed, and is exit status 1. A sequence that does not end is killed after 8 seconds, and
the last line of its log is the call that hangs. tests/host/corpus.txt has the seeds that have found something.

SONDE_BIN: the `sonde` to run. HOST_FUZZ: the program of this folder.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SONDE = os.environ.get("SONDE_BIN", "sonde")
PROGRAM = os.environ.get("HOST_FUZZ", "host_fuzz")
SOURCES = {"default": None, "all": "+io,+sync,+stack,+memory,+python"}
BARE_RUNS = 6
BATCHES = (5, 10, 20, 40)  # sequences a run, so that what is found at once is said at once
PATIENCE = 600  # seconds that a batch may take: its sequences have a watchdog of their own
# Sonde's own descriptor if it samples above 100 Hz (docs/probes/stack.md).
HIDDEN = re.compile(r"^fd \d+ other anon_inode:\[perf_event\]")


def sections(text):
    """{name: lines} of a run's output."""
    found, lines = {}, None
    for line in text.splitlines():
        if line.startswith("== "):
            lines = found[line[3:]] = []
        elif lines is not None and not HIDDEN.match(line):
            lines.append(line)
    return found


class Runner:
    """Runs the program in folders of its own, bare or recorded."""

    def __init__(self, folder, sources):
        self.folder = pathlib.Path(folder)
        self.sources = sources

    def start(self, recorded, *arguments, place="run0"):
        place = self.folder / place
        shutil.rmtree(place, ignore_errors=True)
        (place / "work").mkdir(parents=True)
        command = [PROGRAM, arguments[0], str(place / "work"), *map(str, arguments[1:])]
        if recorded:
            options = [] if SOURCES.get(self.sources, self.sources) is None else ["--sources", SOURCES.get(self.sources, self.sources)]
            command = [SONDE, "run", *options, "-o", str(place / "trace.sonde"), "--", *command]
        with open(place / "out", "wb") as out, open(place / "error", "wb") as error:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=error, start_new_session=True), place

    def finish(self, started):
        process, place = started
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
        found = sections((place / "out").read_text(errors="replace"))
        if process.returncode != 0:
            found["the run"] = [f"exit status {process.returncode}", *(place / "error").read_text(errors="replace").splitlines()[-3:]]
        return found

    def both(self, *arguments, recorded=(False, True)):
        """(bare, recorded), at the same time."""
        started = [self.start(one, *arguments, place=f"run{at}") for at, one in enumerate(recorded)]
        return tuple(self.finish(one) for one in started)


def first_difference(bare, recorded):
    """The first line that differs, and the one before it, on both sides."""
    at = next((n for n, (a, b) in enumerate(zip(bare, recorded)) if a != b), min(len(bare), len(recorded)))
    # The innermost call is the last; calls that wait for it hang as well.
    hangs = "; ".join(line[8:] for line in recorded if line.startswith("HANG in ") and line not in bare)
    before = bare[at - 1] if at > 0 else ""
    return {"after": before, "bare": (bare[at:] or ["(nothing)"])[0], "recorded": (recorded[at:] or ["(nothing)"])[0],
            **({"hangs": hangs} if hangs else {})}


def confirmed(runner, arguments, name):
    """The difference, if the bare runs agree and the recorded ones differ from them each time."""
    bares, differences = [], []
    for _ in range(2):
        bare, recorded = runner.both(*arguments)
        bares.append(bare.get(name))
        if bare.get(name) == recorded.get(name):
            return None
        differences.append(first_difference(bare.get(name, []), recorded.get(name, [])))
    # Alone, and next to another run, which makes its threads wait for a processor.
    bares += [runner.finish(runner.start(False, *arguments)).get(name) for _ in range(BARE_RUNS)]
    bares += [run.get(name) for _ in range(BARE_RUNS) for run in runner.both(*arguments, recorded=(False, False))]
    return differences[0] if all(bare == bares[0] for bare in bares) else None


def compare(runner, arguments, again):
    """The differences between the two runs of `arguments`; again(name): the arguments of that section alone."""
    bare, recorded = runner.both(*arguments)
    found = []
    # There are no sequences after one that hangs.
    both = [name for name in {**bare, **recorded} if name in bare and name in recorded or name == "the run"]
    for name in both:
        if bare.get(name) != recorded.get(name):
            difference = confirmed(runner, again(name), name) if name != "the run" else {"recorded": str(recorded.get(name))}
            if difference is not None:
                found.append({"section": name, "sources": runner.sources, **difference})
    return found, len(both)


def report(found):
    for one in found:
        print(f"found: {one['section']} ({one['sources']})")
        for key in ("after", "bare", "recorded", "hangs"):
            if key in one:
                print(f"  {key}: {one[key]}")
    sys.stdout.flush()


def seeds_of_corpus():
    lines = (HERE / "corpus.txt").read_text().splitlines()
    return [int(line.split()[0]) for line in lines if line.strip() and not line.startswith("#")]


def load(path, sources):
    state = json.loads(path.read_text()) if path and path.exists() else {}
    state.setdefault(sources, {"next_seed": 1, "seconds": 0.0, "sequences": 0, "found": []})
    return state


def fuzz(runner, options):
    state = load(options.state, options.sources)
    own = state[options.sources]
    if options.today:
        own["next_seed"] = int(time.time() // 86400) * 1000
    if options.first is not None:
        own["next_seed"] = options.first
    end = time.monotonic() + (options.seconds or options.minutes * 60)
    corpus = [] if options.no_corpus else seeds_of_corpus()
    found = []
    batches = list(BATCHES)
    while time.monotonic() < end:
        begin = time.monotonic()
        if corpus:
            first, count = corpus.pop(0), 1
        else:
            first, count = own["next_seed"], batches.pop(0) if len(batches) > 1 else batches[0]
        new, ran = compare(runner, ("run", first, count), lambda name: ("run", name, 1))
        if count > 1:
            own["next_seed"] += max(ran, 1)
        report(new)
        found += new
        own["seconds"] += time.monotonic() - begin
        own["sequences"] += ran
        own["found"] += new
        if options.state:
            options.state.write_text(json.dumps(state, indent=1))
        if new and options.until_found:
            break
    print(f"{options.sources}: {own['sequences']} sequences in {own['seconds'] / 60:.1f} min in all, next seed {own['next_seed']}, "
          f"{len(found)} found now")
    return found


def show(runner, seed):
    bare, recorded = runner.both("run", seed, 1)
    for name, run in (("bare", bare), ("recorded", recorded)):
        print(f"---- {name}\n" + "\n".join(run.get(str(seed), ["(nothing)"])))
    return [] if bare == recorded else [seed]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", default="default", help="default, all, or what `sonde run --sources` takes")
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--state", type=pathlib.Path, help="file of what was run so far; made when it is not there")
    parser.add_argument("--first", type=int, help="begin with this seed")
    parser.add_argument("--today", action="store_true", help="begin with the day's own seed")
    parser.add_argument("--seed", type=int, help="this sequence alone, both logs")
    parser.add_argument("--table", nargs="?", const="", help="the table of bad arguments, of one function when it is named")
    parser.add_argument("--no-corpus", action="store_true")
    parser.add_argument("--until-found", action="store_true", help="stop at the first difference")
    options = parser.parse_args()
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # no disk is to be waited for
    with tempfile.TemporaryDirectory(prefix="host_fuzz", dir=memory) as folder:
        runner = Runner(folder, options.sources)
        if options.seed is not None:
            found = show(runner, options.seed)
        elif options.table is not None:
            names = [options.table] if options.table else []
            found, rows = compare(runner, ("table", *names), lambda name: ("table", name.split()[0]))
            report(found)
            print(f"{options.sources}: {rows} rows, {len(found)} differ")
        else:
            found = fuzz(runner, options)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
