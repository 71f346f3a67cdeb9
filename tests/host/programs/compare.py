#!/usr/bin/env python3
"""Real programs, compared with themselves: each case is run bare and under `sonde run`, and everything that it shows must be
the same: exit status, both outputs, files and processes left behind.

    compare.py --sonde build/dev/bin/sonde                    all cases, with both sets of sources
    compare.py --sonde … --short --sources default            those for every run of the tests
    compare.py --sonde … --only git --results results.json    adds to what a table is made from
    compare.py --preload LIB                                  with a library preloaded in place of Sonde
    compare.py --table results.json                           the table of docs/host-programs.md

Exit status: 0 no difference, 1 differences, 2 wrong usage.
"""
import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time

import bounded_run
import cases
import suites
import table
import ways
from case import PARTS, checks, differences

SOURCES = {"default": "", "all": "+io,+sync,+stack,+memory,+python"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sonde", help="the program `sonde`")
    parser.add_argument("--sources", choices=(*SOURCES, "both"), default="both", help="which sources record")
    parser.add_argument("--preload", help="compare with this library preloaded, in place of Sonde")
    parser.add_argument("--short", action="store_true", help="only the cases of the short set")
    parser.add_argument("--suites", action="store_true", help="the test suites of CPython and GLib, too")
    parser.add_argument("--only", metavar="REGEX", default="", help="only cases and suites whose title matches")
    parser.add_argument("--limit", type=int, metavar="SECONDS", help="a time limit in place of each case's own")
    parser.add_argument("--times", type=int, default=3, help="how often a case that differs is run each way, 3")
    parser.add_argument("--results", metavar="FILE", help="add what was found to this file")
    parser.add_argument("--table", metavar="FILE", help="print the table of such a file, and nothing else")
    parser.add_argument("--list", action="store_true", help="print the titles of the cases")
    chosen = parser.parse_args()
    if not chosen.table and not chosen.list and bool(chosen.sonde) == bool(chosen.preload):
        parser.error("give --sonde or --preload")
    for name in filter(None, (chosen.sonde, chosen.preload)):
        if not os.path.exists(name):
            parser.error(f"{name}: no such file")
    return chosen


def wanted_ways(chosen):
    if chosen.preload:
        return [ways.preloaded(os.path.abspath(chosen.preload))]
    names = SOURCES if chosen.sources == "both" else [chosen.sources]
    return [ways.recorded(os.path.abspath(chosen.sonde), name, SOURCES[name]) for name in names]


def missing(case):
    return [program for program in case.needs if not shutil.which(program)]


class Comparison:
    """Runs cases in one folder, and keeps what came of them."""

    def __init__(self, folder, times):
        self.folder, self.times = folder, times
        self.found = []

    def bare(self, case):
        outcome = ways.outcome(case, ways.BARE, self.folder)
        wrong = outcome.hang or outcome.left or outcome.status != case.status
        if wrong:
            print(f"WRONG BARE {case.title}: {' '.join(case.command)}: exit status {outcome.status}, "
                  f"{outcome.hang or outcome.left}\n{outcome.stderr[-2000:]}")
        return outcome, not wrong

    def judge(self, case, way, bare):
        """'same', 'differs' or 'flaky', and how. A part that differs between bare runs, too, is no difference."""
        outcome = ways.outcome(case, way, self.folder)
        how = differences(bare, outcome)
        if not how:
            return "same", [], outcome
        if outcome.hangs and not bare.hangs:
            return "differs", how, outcome
        bares = [bare] + [ways.outcome(case, ways.BARE, self.folder) for _ in range(self.times - 1)]
        others = [outcome] + [ways.outcome(case, way, self.folder) for _ in range(self.times - 1)]
        for part in PARTS:
            bare_values = {getattr(each, part) for each in bares}
            strange = sum(getattr(each, part) not in bare_values for each in others)
            if strange and len(bare_values) == 1:
                return "differs", [f"{part} in {strange} of {self.times} runs, alike in {self.times} bare ones", *how], outcome
        return "flaky", [f"differs as bare runs do: {self.times} each way", *how], outcome

    def compare(self, case, wanted):
        if isinstance(case, suites.Suite):
            self.found += suites.compare(case, wanted, self.folder)
            return
        if lacking := missing(case):
            print(f"left out   {case.title}: no {', '.join(lacking)}")
            return
        bare, passed = self.bare(case)
        for way in wanted:
            began = time.monotonic()
            verdict, how, outcome = self.judge(case, way, bare)
            print(f"{verdict:10} {case.title} ({way.name}, {outcome.processes} processes, {time.monotonic() - began:.1f} s)",
                  flush=True)
            if how:
                print(f"  {' '.join(case.command)}", *how, sep="\n  ", flush=True)
            tests, alike = checks(bare, outcome, verdict != "differs")
            self.found.append({"program": case.program, "way": way.name, "test": case.name, "tests": tests,
                               "bare": tests * passed, "recorded": alike * passed, "flaky": verdict == "flaky",
                               "differs": verdict == "differs", "how": how})


def verdict_of(found):
    """Prints the last line, and returns the exit status."""
    differ, flaky = (sum(entry[what] for entry in found) for what in ("differs", "flaky"))
    wrong = sum(not entry["bare"] and not entry.get("suite") for entry in found)
    print(f"{len(found)} comparisons, {differ} differences, {flaky} flaky, {wrong} wrong without Sonde")
    return 1 if differ or wrong else 0


def main():
    chosen = arguments()
    if chosen.table:
        print(table.of(chosen.table))
        return 0
    wanted_cases = [case for case in cases.all_cases() if re.search(chosen.only, case.title) and (case.short or not chosen.short)]
    if chosen.limit:
        wanted_cases = [dataclasses.replace(case, limit=chosen.limit) for case in wanted_cases]
    wanted_suites = [suite for suite in suites.all_suites() if re.search(chosen.only, suite.title)] if chosen.suites else []
    if chosen.list:
        print(*(each.title for each in wanted_cases + wanted_suites), sep="\n")
        return 0
    bounded_run.own_descendants()
    with tempfile.TemporaryDirectory(prefix="sonde-programs-") as folder:
        os.chmod(folder, 0o755)
        comparison = Comparison(pathlib.Path(folder) / "run", chosen.times)
        for each in wanted_cases + wanted_suites:
            comparison.compare(each, wanted_ways(chosen))
            if chosen.results:
                table.add(chosen.results, comparison.found)
    return verdict_of(comparison.found)


if __name__ == "__main__":
    sys.exit(main())
