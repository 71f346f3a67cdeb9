#!/usr/bin/python3
"""Whether a run that calibrates itself finds the same cost of recording as separate runs do, and how sure either is: errors are what
more iterations would make smaller.

    bench/calibration_agreement.py --build build/dev [--rounds 5 | --precision PERCENT] [--repeat 3] [--cases REGEX]

Jobs of bench/correction_accuracy.py; separate runs have a quarter of the iterations, since runs of one program differ by more than further
iterations would tell. Needs numpy. `z` is the difference over the standard error of it."""
import argparse
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import correction_accuracy as jobs

CASES = r"^(small network|network|convolution|file loader, \+io|files, C\+\+, \+io|allocations, C\+\+, \+memory)$"


def in_run(runner, case, folder):
    summary = folder / "summary.json"
    runner.run(case, [runner.sonde, "run", "-f", "-o", str(folder / "run.sonde"), "--summary", str(summary), "--calibrate",
                      *case.options, "--"])
    found = json.loads(summary.read_text(encoding="utf-8"))["calibration"]
    if "overhead_ns" not in found:
        sys.exit(f"{case.name}: nothing could be told: {found}")
    return found["overhead_ns"] / found["iteration_ns"], found["noise_ns"] / found["iteration_ns"]


def separate(runner, case, until):
    *command, iterations = case.command
    found = runner.json(["calibrate", *until, "--format", "json", *case.options, "--", *command, str(int(iterations) // 4)],
                        **case.environment)
    if not any(share["found"] for share in found["shares"]):
        return None  # all is as it was known before
    return found["overhead_ns"] / found["iteration_ns"], found["overhead_noise_ns"] / found["iteration_ns"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/dev")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--precision", type=float, help="as many rounds as make the separate runs' standard error at most this, in %% of an iteration")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--cases", default=CASES)
    options = parser.parse_args()
    build = str(pathlib.Path(options.build).resolve())
    until = ["--precision", str(options.precision)] if options.precision else ["--rounds", str(options.rounds)]
    agree = count = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        runner = jobs.Runner(build, folder)
        for case in jobs.cases(build):
            if not re.search(options.cases, case.name):
                continue
            for _ in range(options.repeat):
                own, own_error = in_run(runner, case, folder)
                apart = separate(runner, case, until)
                if apart is None:
                    print(f"{case.name:36} in-run {100 * own:6.2f} % ± {100 * own_error:5.2f}   separate runs tell of no probe", flush=True)
                    continue
                other, other_error = apart
                z = (own - other) / math.hypot(own_error, other_error)
                count += 1
                agree += abs(z) <= 1.96
                print(f"{case.name:36} in-run {100 * own:6.2f} % ± {100 * own_error:5.2f}   separate runs {100 * other:6.2f} % "
                      f"± {100 * other_error:5.2f}   z {z:+5.1f}", flush=True)
    print(f"within 1.96 standard errors: {agree} of {count}")


if __name__ == "__main__":
    main()
