#!/usr/bin/env python3
"""Runs a real data-parallel job in many settings, and lets `sonde replay --judge odd` predict its odd iterations from the even ones.

    bench/replay_runs.py [--steps 150] [--sonde build/release/bin/sonde] [--goal 0.02]

Each of two models runs with buckets of 1, 5 and 25 MB, on 2 and 4 ranks, over the machine's own network and over links of 200
Mbit/s (network namespaces, which need root). Short iterations vary more, so jobs on the machine's own network make eight times as
many. A case is decided if twice its standard error is at most the goal, and right if its
error, less that, is at most the goal. Noise is how much the judged iterations vary.
"""
import argparse
import contextlib
import itertools
import json
import pathlib
import tempfile

from ddp_runs import links, run_job, sonde


def judged(model, bucket, world, rate, arguments, folder):
    options = ["--model", model, "--bucket", str(bucket), "--steps", str(arguments.steps * (1 if rate else 8))]
    with contextlib.ExitStack() as around:
        namespaces = around.enter_context(links(world, {}, rate)) if rate else None
        trace = run_job(arguments.sonde, folder, world, options, namespaces)
    return [json.loads(sonde(arguments.sonde, "replay", trace, "--format", "json", *more)) for more in (["--judge", "odd"], [])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--sonde", default="build/release/bin/sonde")
    parser.add_argument("--goal", type=float, default=0.02)
    parser.add_argument("--keep", type=pathlib.Path, help="keep the traces in this folder")
    parser.add_argument("--links", choices=("free", "slow", "both"), default="both")
    arguments = parser.parse_args()
    rates = {"free": (None,), "slow": ("200mbit",), "both": (None, "200mbit")}[arguments.links]
    decided = right = cases = 0
    print("model  bucket  ranks  link       iteration   error  2 x s.e.   noise  gaps of others  unexplained")
    for model, bucket, world, rate in itertools.product(("cnn", "mlp"), (1, 5, 25), (2, 4), rates):
        with tempfile.TemporaryDirectory() as temporary:
            folder = arguments.keep / f"{model}{bucket}x{world}{rate or ''}" if arguments.keep else pathlib.Path(temporary)
            odd, own = judged(model, bucket, world, rate, arguments, folder)
        cases += 1
        spread = 2 * odd["standard_error"]
        isDecided = spread <= arguments.goal
        isRight = abs(odd["error"]) - spread <= arguments.goal
        decided += isDecided
        right += isRight
        print(f"{model:5}  {bucket:3} MB  {world:5}  {rate or 'free':8}  {odd['measured_ns'] / 1e6:7.2f} ms  {odd['error']:+6.2%}  "
              f"{spread:8.2%}  {odd['noise']:6.2%}  {own['predicted_gaps_error']:+14.2%}  {own['gap_share']:11.2%}"
              f"{'' if isDecided else '  undecided'}{'' if isRight else '  wrong'}", flush=True)
    print(f"{right} of {cases} within {arguments.goal:.0%}, {decided} decided")


if __name__ == "__main__":
    main()
