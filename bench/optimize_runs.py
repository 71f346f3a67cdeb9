#!/usr/bin/env python3
"""Runs a real data-parallel job on a slow link, follows the advice of `sonde optimize`, and compares the gain with the promised one.

    bench/optimize_runs.py [--runs 3] [--steps 60] [--sonde build/release/bin/sonde] [CASE…]

Links are network namespaces, which need root. `brought` is the saved time as a part of the promised one, over all runs.
"""
import argparse
import json
import pathlib
import re
import statistics
import tempfile
from typing import NamedTuple

from ddp_runs import links, run_job, sonde


class Case(NamedTuple):
    rate: str
    options: tuple


CASES = {
    "cnn-small-buckets": Case("200mbit", ("--model", "cnn", "--bucket", "0.05")),
    "mlp-small-buckets": Case("200mbit", ("--model", "mlp", "--bucket", "0.05")),
    "cnn-one-bucket": Case("200mbit", ("--model", "cnn", "--bucket", "25")),
    "mlp-one-bucket": Case("200mbit", ("--model", "mlp", "--bucket", "25")),
    "cnn-slow-loader": Case("200mbit", ("--model", "cnn", "--bucket", "1", "--sleep", "0:0.002")),
}
QUESTIONS = "bucket-size,compression,workers"
MIB = 1024 * 1024


def options_of(question):
    """The options of ddp_job.py that a question of the plan stands for."""
    size = re.fullmatch(r"--bucket-size (\d+)(KiB|MiB)", question)
    if size:
        return ["--bucket", str(int(size[1]) * (MIB if size[2] == "MiB" else 1024) / MIB)]
    workers = re.fullmatch(r"--workers (\d+)", question)
    if workers:
        return ["--workers", workers[1]]
    if question == "--ask compression,codec=fp16":
        return ["--hook", "fp16"]
    raise ValueError(f"no option of the job for '{question}'")


def record(case, more, folder, arguments):
    with links(2, {}, case.rate) as namespaces:
        return run_job(arguments.sonde, folder, 2, ["--steps", str(arguments.steps), *case.options, *more], namespaces)


def follow(case, folder, arguments):
    """(plan, iteration before, iteration after), in ns."""
    before = record(case, [], folder / "before", arguments)
    plan = json.loads(sonde(arguments.sonde, "optimize", before, "--questions", QUESTIONS, "--format", "json"))
    more = [option for question in plan["questions"] for option in options_of(question)]
    after = record(case, more, folder / "after", arguments)
    measured = json.loads(sonde(arguments.sonde, "replay", after, "--format", "json"))["measured_ns"]
    return plan, plan["baseline_ns"], measured


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--sonde", default="build/release/bin/sonde")
    parser.add_argument("--keep", type=pathlib.Path, help="keep the traces in this folder")
    parser.add_argument("cases", nargs="*", default=list(CASES), metavar="CASE")
    arguments = parser.parse_args()
    promised_of_all = saved_of_all = 0
    print("case                    now       promised     measured   brought  plan")
    for name in arguments.cases:
        runs = []
        for run in range(arguments.runs):
            with tempfile.TemporaryDirectory() as temporary:
                folder = arguments.keep / f"{name}{run}" if arguments.keep else pathlib.Path(temporary)
                runs.append(follow(CASES[name], folder, arguments))
        now = statistics.mean(before for _, before, _ in runs)
        promised = statistics.mean(plan["together_ns"] for plan, _, _ in runs)
        measured = statistics.mean(after for _, _, after in runs)
        promised_of_all += 1 - promised / now
        saved_of_all += 1 - measured / now
        brought = (now - measured) / (now - promised) if promised < now else float("nan")
        print(f"{name:18} {now / 1e6:7.2f} ms {promised / 1e6:9.2f} ms {measured / 1e6:9.2f} ms {brought:8.0%}  "
              f"{' '.join(runs[0][0]['questions'])}", flush=True)
    print(f"over all cases the plans brought {saved_of_all / promised_of_all:.0%} of what they promised")


if __name__ == "__main__":
    main()
