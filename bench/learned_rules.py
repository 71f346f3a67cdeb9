#!/usr/bin/env python3
"""Learns invariants from good runs of bench/silent_faults.py, then counts how many faults `sonde check` finds by them, how soon,
and how many other good runs it blames.

    bench/learned_rules.py [--sonde build/release/bin/sonde] [--learn 8] [--good 50] [--record all] [--keep FOLDER] [FAULT…]

Each run has another seed: initial weights, order of the data and dropout. A fault counts as found if the first broken invariant
is broken in the iteration in which the fault begins to act, or in the next one.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

JOB = pathlib.Path(__file__).with_name("silent_faults.py")
PYTHON = os.environ.get("SONDE_TORCH_PYTHON", "/usr/bin/python3")
PATIENCE = 300
TENSORS = "[tensors]\nevery = 1\n"
TELLING = ("calls", "order", "names", "ranks", "updates", "scalars", "layout", "arguments", "values")  # which finding is shown
RECORDED = {"all": ["--sources", "+tensor", "--tensors", "{tensors}", "--torch-operators", "shapes"],
            "tensors": ["--sources", "+tensor", "--tensors", "{tensors}"],
            "operators": ["--torch-operators", "shapes"], "scopes": []}


def run(arguments, expected=(0,)):
    finished = subprocess.run([str(each) for each in arguments], capture_output=True, text=True, timeout=PATIENCE, check=False)
    if finished.returncode not in expected:
        raise RuntimeError(f"{arguments}: exit status {finished.returncode}\n{finished.stderr[-2000:]}")
    return finished.stdout


class Bench:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        tensors = folder / "tensors.toml"
        tensors.write_text(TENSORS, encoding="utf-8")
        rules = folder / "rules.toml"
        rules.write_text(f'[rules]\nlearned-invariants = {{ kinds = "{arguments.kinds}", ignore = "{arguments.ignore}" }}\n', encoding="utf-8")
        self.rules = ["--rules", rules]
        self.options = [option.format(tensors=tensors) for option in RECORDED[arguments.record]]

    def record(self, name, seed, fault=None):
        """The trace, and what the job printed."""
        trace, log = self.folder / f"{name}.sonde", self.folder / f"{name}.log"
        if self.arguments.keep and log.exists():
            return trace, log.read_text(encoding="utf-8")
        chosen = ["--fault", fault] if fault else []
        printed = run([self.arguments.sonde, "run", "-f", *self.options, "-o", trace, "--", PYTHON, JOB, "--seed", seed, *chosen])
        log.write_text(printed, encoding="utf-8")
        return trace, printed

    def broken(self, trace, learned):
        """The findings, the first broken one first."""
        report = json.loads(run([self.arguments.sonde, "check", trace, "--format", "json", *self.rules, "--baseline", learned], (0, 1)))
        fired = [each for each in report["results"] if each["rule"] == "learned-invariants" and each["verdict"] == "fired"]
        return sorted(fired, key=lambda each: (each["evidence"]["iteration"], TELLING.index(each["entity"].split(": ")[1])))

    def learn(self):
        traces = [self.record(f"learn{seed}", 100 + seed)[0] for seed in range(self.arguments.learn)]
        learned = self.folder / "learned.json"
        print(run([self.arguments.sonde, "baseline", "learn", *traces, "-o", learned, "-f"]), flush=True)
        return learned

    def forget(self, trace):
        if not self.arguments.keep:
            trace.unlink()

    def try_fault(self, fault, learned):
        trace, printed = self.record(fault, 1, fault)
        begin = int(printed.split("the fault acts from iteration ")[1].split()[0])
        findings = self.broken(trace, learned)
        self.forget(trace)
        first = findings[0]["evidence"]["iteration"] if findings else None
        isFound = first is not None and begin <= first <= begin + 1
        verdict = "found" if isFound else "no" if first is None else "late" if first > begin else "early"
        shown = "; ".join(each["entity"].split(": ")[1] + ": " + each["message"].split(": ", 1)[1] for each in findings[:1])
        print(f"{fault:18}{begin:6}  {verdict:6}{'-' if first is None else first:>6}  {len(findings):3}  {shown[:150]}", flush=True)
        return isFound

    def try_good(self, number, learned):
        trace, _ = self.record(f"good{number}", 1000 + number)
        findings = self.broken(trace, learned)
        if findings:
            print(f"good run {number}: " + "; ".join(f"{each['entity']}: {each['message']}" for each in findings)[:400], flush=True)
        self.forget(trace)
        return bool(findings)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sonde", default="build/release/bin/sonde")
    parser.add_argument("--learn", type=int, default=8, help="good runs to learn from")
    parser.add_argument("--good", type=int, default=50, help="other good runs to judge")
    parser.add_argument("--record", choices=RECORDED, default="all", help="what `sonde run` records")
    parser.add_argument("--kinds", default=",".join(TELLING), help="kinds of invariants to judge by")
    parser.add_argument("--ignore", default="", help="a shell pattern for subjects that are not judged")
    parser.add_argument("--learned", type=pathlib.Path, help="a file of an earlier run of this script, instead of learning")
    parser.add_argument("--keep", type=pathlib.Path, help="keep the traces in this folder, and use those that it has")
    parser.add_argument("faults", nargs="*", metavar="FAULT")
    arguments = parser.parse_args()
    listed = run([PYTHON, JOB, "--help"]).split("--fault {")[1].split("}")[0]
    faults = arguments.faults or "".join(listed.split()).split(",")
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        bench, begin = Bench(arguments, folder), time.monotonic()
        learned = arguments.learned or bench.learn()
        print("fault              acts  verdict first  findings  first broken", flush=True)
        found = sum(bench.try_fault(fault, learned) for fault in faults)
        print(f"found: {found} of {len(faults)}", flush=True)
        blamed = sum(bench.try_good(number, learned) for number in range(arguments.good))
        print(f"false alarms: {blamed} of {arguments.good} good runs; {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
