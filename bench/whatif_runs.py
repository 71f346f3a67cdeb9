#!/usr/bin/env python3
"""Runs a real data-parallel job in two settings in turns, and compares what `sonde whatif` predicts from the one with the other.

    bench/whatif_runs.py [--runs 3] [--steps 60] [--sonde build/release/bin/sonde] [CASE…]

Links of a given speed are network namespaces, which need root. A run predicts the next one in the other setting; the error is the
mean over the runs, and its standard error comes from their spread. A case is decided if twice its standard error is at most the
goal, and right if its error, less that, is at most the goal. `inside` counts the runs whose iterations lie in the predicted
interval.
"""
import argparse
import contextlib
import json
import pathlib
import statistics
import tempfile
from typing import NamedTuple

from ddp_runs import links, run_job, sonde


class Setting(NamedTuple):
    options: tuple = ()
    rate: str = None
    world: int = 2
    pinned: bool = True
    variables: tuple = ()
    recorded: tuple = ()  # options of `sonde run`


class Case(NamedTuple):
    now: Setting
    then: Setting
    question: tuple


def ranks(world):
    """Ranks of one thread each, on whichever processor is free: idle threads of a library would keep processors busy."""
    return Setting(world=world, pinned=False, variables=(("OMP_NUM_THREADS", "1"), ("OPENBLAS_NUM_THREADS", "1")))


def bucket(model, size, rate="200mbit", more=(), recorded=()):
    return Setting(("--model", model, "--bucket", str(size), *more), rate, recorded=recorded)


OPERATORS = ("--torch-operators", "names")


CASES = {
    "cnn-bucket-1-25": Case(bucket("cnn", 1), bucket("cnn", 25), ("--bucket-size", "25MiB")),
    "cnn-bucket-25-1": Case(bucket("cnn", 25), bucket("cnn", 1), ("--bucket-size", "1MiB")),
    "mlp-bucket-1-25": Case(bucket("mlp", 1), bucket("mlp", 25), ("--bucket-size", "25MiB")),
    "mlp-bucket-25-1": Case(bucket("mlp", 25), bucket("mlp", 1), ("--bucket-size", "1MiB")),
    "cnn-network-slower": Case(bucket("cnn", 1, "1gbit"), bucket("cnn", 1), ("--network", "bandwidth=200Mbit/s")),
    "cnn-network-faster": Case(bucket("cnn", 1), bucket("cnn", 1, "1gbit"), ("--network", "bandwidth=1Gbit/s")),
    "mlp-network-slower": Case(bucket("mlp", 5, "1gbit"), bucket("mlp", 5), ("--network", "bandwidth=200Mbit/s")),
    "mlp-network-faster": Case(bucket("mlp", 5), bucket("mlp", 5, "1gbit"), ("--network", "bandwidth=1Gbit/s")),
    "cnn-batch-2": Case(bucket("cnn", 1), bucket("cnn", 1, more=("--batch", "32")), ("--ask", "batch,x=2")),
    "mlp-batch-2": Case(bucket("mlp", 5), bucket("mlp", 5, more=("--batch", "32")), ("--ask", "batch,x=2")),
    "cnn-accumulation-2": Case(bucket("cnn", 1), bucket("cnn", 1, more=("--accumulate", "2")), ("--ask", "accumulation,x=2")),
    "mlp-accumulation-2": Case(bucket("mlp", 5), bucket("mlp", 5, more=("--accumulate", "2")), ("--ask", "accumulation,x=2")),
    "cnn-fp16": Case(bucket("cnn", 1), bucket("cnn", 1, more=("--hook", "fp16")), ("--ask", "compression")),
    "mlp-fp16": Case(bucket("mlp", 5), bucket("mlp", 5, more=("--hook", "fp16")), ("--ask", "compression")),
    "cnn-no-sort": Case(bucket("cnn", 1, more=("--sort",), recorded=OPERATORS), bucket("cnn", 1, recorded=OPERATORS),
                        ("--remove", "operator:aten::sort")),
    "mlp-no-sort": Case(bucket("mlp", 5, more=("--sort",), recorded=OPERATORS), bucket("mlp", 5, recorded=OPERATORS),
                        ("--remove", "operator:aten::sort")),
    "transformer-bucket-1-25": Case(bucket("transformer", 0.3), bucket("transformer", 25), ("--bucket-size", "25MiB")),
    "transformer-network-slower": Case(bucket("transformer", 1, "1gbit"), bucket("transformer", 1),
                                       ("--network", "bandwidth=200Mbit/s")),
    "transformer-batch-2": Case(bucket("transformer", 1), bucket("transformer", 1, more=("--batch", "32")), ("--ask", "batch,x=2")),
    "transformer-accumulation-2": Case(bucket("transformer", 1), bucket("transformer", 1, more=("--accumulate", "2")),
                                       ("--ask", "accumulation,x=2")),
    "transformer-fp16": Case(bucket("transformer", 1), bucket("transformer", 1, more=("--hook", "fp16")), ("--ask", "compression")),
    "straggler": Case(Setting(("--sleep", "1:0.001")), Setting(), ("--no-stragglers",)),
    "workers-0-2": Case(Setting(("--sleep", "0:0.002"), world=1, pinned=False),
                        Setting(("--sleep", "0:0.002", "--workers", "2"), world=1, pinned=False), ("--workers", "2")),
    "workers-2-0": Case(Setting(("--sleep", "0:0.002", "--workers", "2"), world=1, pinned=False),
                        Setting(("--sleep", "0:0.002"), world=1, pinned=False), ("--workers", "0")),
    "ranks-2-4": Case(ranks(2), ranks(4), ("--ranks", "4")),
    "ranks-4-2": Case(ranks(4), ranks(2), ("--ranks", "2")),
}


def record(setting, folder, arguments):
    with contextlib.ExitStack() as around:
        namespaces = around.enter_context(links(setting.world, {}, setting.rate)) if setting.rate else None
        return run_job(arguments.sonde, folder, setting.world, ["--steps", str(arguments.steps), *setting.options], namespaces,
                       setting.pinned, setting.variables, setting.recorded)


def answers(case, folder, arguments):
    """(predicted, measured), run by run."""
    now = record(case.now, folder / "now", arguments)
    then = record(case.then, folder / "then", arguments)
    predicted = json.loads(sonde(arguments.sonde, "whatif", now, *case.question, "--format", "json"))
    return predicted, json.loads(sonde(arguments.sonde, "replay", then, "--format", "json"))["measured_ns"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--sonde", default="build/release/bin/sonde")
    parser.add_argument("--goal", type=float, default=0.08)
    parser.add_argument("--keep", type=pathlib.Path, help="keep the traces in this folder")
    parser.add_argument("cases", nargs="*", default=list(CASES), metavar="CASE")
    arguments = parser.parse_args()
    decided = right = inside = 0
    print("case                      now        predicted  measured    error  2 x s.e.  inside")
    for name in arguments.cases:
        errors, found = [], []
        for run in range(arguments.runs):
            with tempfile.TemporaryDirectory() as temporary:
                folder = arguments.keep / f"{name}{run}" if arguments.keep else pathlib.Path(temporary)
                predicted, measured = answers(CASES[name], folder, arguments)
            errors.append(predicted["predicted_ns"] / measured - 1)
            found.append((predicted["baseline_ns"], predicted["predicted_ns"], measured,
                          predicted["low_ns"] <= measured <= predicted["high_ns"]))
        error = statistics.mean(errors)
        spread = 2 * statistics.stdev(errors) / len(errors) ** 0.5 if len(errors) > 1 else float("inf")
        now, guess, truth, within = (statistics.mean(each) for each in zip(*found))
        decided += spread <= arguments.goal
        right += abs(error) - spread <= arguments.goal
        inside += within
        print(f"{name:22} {now / 1e6:7.2f} ms {guess / 1e6:9.2f} ms {truth / 1e6:7.2f} ms {error:+8.1%} {spread:8.1%} {within:7.0%}"
              f"{'' if abs(error) - spread <= arguments.goal else '  wrong'}", flush=True)
    count = len(arguments.cases)
    print(f"{right} of {count} within {arguments.goal:.0%}, {decided} decided; {inside / count:.0%} of runs inside of the interval")


if __name__ == "__main__":
    main()
