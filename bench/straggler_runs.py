#!/usr/bin/env python3
"""Runs a real data-parallel job with one rank made slow, again and again, and counts how often `sonde graph` names the rank and
the cause.

    bench/straggler_runs.py [--runs 10] [--sonde build/release/bin/sonde] [KIND…]

Each rank of bench/ddp_job.py has a processor of its own. Kinds: `loader` (a rank's data set sleeps), `workers` (the same, in
worker processes), `hog` (another program keeps the rank's processor busy), `link` (what the rank sends passes a slow link; the
ranks are in network namespaces, which needs root) and `healthy`.
"""
import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from ddp_runs import links, run_job, sonde

KINDS = ("loader", "workers", "hog", "link", "healthy")
CAUSES = {"loader": {"loader"}, "workers": {"loader"}, "hog": {"host"}, "link": {"transfer"}, "healthy": set()}


@contextlib.contextmanager
def hog(processor):
    busy = subprocess.Popen(["taskset", "-c", str(processor), sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        busy.kill()
        busy.wait()


def stragglers(kind, slow, folder, binary):
    options = ["--steps", "30", "--model", "mlp" if kind == "link" else "cnn"]
    if kind in ("loader", "workers"):
        options += ["--sleep", f"{slow}:{0.006 if kind == 'workers' else 0.002}", "--workers", "2" if kind == "workers" else "0"]
    with contextlib.ExitStack() as around:
        namespaces = around.enter_context(links(2, {slow: "100mbit"}, "1gbit")) if kind == "link" else None
        if kind == "hog":
            around.enter_context(hog(slow))
        trace = run_job(binary, folder, 2, options, namespaces)
    found = sonde(binary, "graph", trace, "--critical-path", "--format", "json")
    return json.loads(found)["stragglers"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--sonde", default="build/release/bin/sonde")
    parser.add_argument("--keep", type=pathlib.Path, help="keep the traces in this folder")
    parser.add_argument("kinds", nargs="*", default=KINDS, metavar="KIND")
    arguments = parser.parse_args()
    if len(os.sched_getaffinity(0)) < 2:
        sys.exit("straggler_runs.py: needs two processors")
    for kind in arguments.kinds:
        right = 0
        for run in range(arguments.runs):
            slow = run % 2
            with tempfile.TemporaryDirectory() as folder:
                target = arguments.keep / f"{kind}{run}" if arguments.keep else pathlib.Path(folder)
                found = stragglers(kind, slow, target, arguments.sonde)
            named = [(each["rank"], each["cause"]) for each in found]
            isRight = not named if kind == "healthy" else bool(named) and named[0][0] == slow and named[0][1] in CAUSES[kind]
            right += isRight
            shown = "; ".join(f"rank {each['rank']} {each['cause']} {each['operation']} {each['share']:.1%}" for each in found)
            print(f"{kind:8} rank {'-' if kind == 'healthy' else slow}: {'right' if isRight else 'wrong'}  {shown}", flush=True)
        print(f"{kind}: {right} of {arguments.runs} right", flush=True)


if __name__ == "__main__":
    main()
