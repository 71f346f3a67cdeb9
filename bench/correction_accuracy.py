#!/usr/bin/python3
"""How right times are from which the cost of recording was taken out: jobs with `sonde run --calibrate` and without Sonde, in turns.

    bench/correction_accuracy.py --build build/dev [--rounds 10] [--cases REGEX] [--json FILE] [--awake]

For each case: the mean iteration without Sonde (the truth), as recorded, and corrected, by rounds; the bias is the median over the
rounds of corrected/truth - 1, ± 1.96 standard errors of that (by drawing the rounds again). The truth is what the run without Sonde of
the same round would have taken at the speed that the machine had during the recorded one (bench/machine_speed.py); "speed" is what it
had on the mean, without Sonde and recorded, and "as it was" the bias if no speed is considered. The interval is the one that Sonde gives,
as biases, so that it should hold 0; "with its error" has the bias's own error in it. --json keeps what each round found; where FILE is
there already, its rounds are not made again. Needs numpy.
--awake runs a loop of idle priority on each processor, so that none is halted while threads wait for each other: how long it takes to wake one
is most of what jobs that hand over every few microseconds take, and recording changes that."""
import argparse
import contextlib
import json
import math
import os
import pathlib
import re
import socket
import sqlite3
import random
import statistics
import subprocess
import sys
import tempfile

import machine_speed
import numpy

ROOT = pathlib.Path(__file__).resolve().parents[1]
# RL-Scope (Gleeson et al., MLSys 2021), figure 11.
RL_SCOPE = "RL-Scope, 8 workloads: mean |bias| 11.6 %, worst -16.8 %, mean inflation 1.8 x"


class Case:
    def __init__(self, name, command, options="", ranks=1, mpi=False, environment=None):
        self.name, self.command, self.options, self.ranks, self.mpi = name, command, options.split(), ranks, mpi
        self.environment = environment or {}


def has_gpu():
    """Whether the PyTorch of the cases can use one."""
    asked = "import sys, torch; sys.exit(not torch.cuda.is_available())"
    return os.path.exists("/dev/nvidiactl") and subprocess.run([sys.executable, "-c", asked], stderr=subprocess.DEVNULL, check=False).returncode == 0


def cases(build):
    work, cuda = f"{build}/bench/correction_work", f"{build}/bench/correction_cuda"
    mpi = f"{build}/bench/correction_mpi.openmpi"

    def python(what, iterations):
        return [sys.executable, f"{ROOT}/bench/correction_python.py", what, str(iterations)]

    found = [
        Case("annotations, C++", [work, "annotated", "8000"]),
        Case("annotations, NVTX", [work, "ranges", "8000"]),
        Case("annotations, Python", python("annotated", 10000)),
        Case("nothing but iterations, Python", python("plain", 5000)),
        Case("reinforcement, on-policy", python("on-policy", 2000)),
        Case("reinforcement, on-policy, +python", python("on-policy", 2000), "--sources +python"),
        Case("reinforcement, off-policy", python("off-policy", 4000)),
        Case("reinforcement, off-policy, +python", python("off-policy", 4000), "--sources +python"),
        Case("small network", python("small-network", 10000)),
        Case("small network, operators", python("small-network", 10000), "--torch-operators names"),
        Case("network", python("network", 2000)),
        Case("network, operators", python("network", 2000), "--torch-operators names"),
        Case("network, shapes", python("network", 2000), "--torch-operators shapes"),
        Case("network, +python", python("network", 2000), "--sources +python"),
        Case("network, +memory", python("network", 2000), "--sources +memory"),
        Case("network, +stack", python("network", 2000), "--sources +stack"),
        Case("convolution", python("convolution", 3000)),
        Case("convolution, operators", python("convolution", 3000), "--torch-operators names"),
        Case("DDP, two ranks", python("parallel", 800), ranks=2),
        Case("DDP, two ranks, +sync", python("parallel", 800), "--sources +sync", ranks=2),
        Case("file loader", python("loader", 2000)),
        Case("file loader, +io", python("loader", 2000), "--sources +io"),
        Case("files, C++, +io", [work, "files", "10000"], "--sources +io"),
        Case("sockets, C++", [work, "stream", "2500"]),
        Case("thread pool, Python, +sync", python("pool", 5000), "--sources +sync"),
        Case("thread pool, C++, +sync", [work, "pool", "2500"], "--sources +sync"),
        Case("allocations, C++, +memory", [work, "memory", "12000"], "--sources +memory"),
    ]
    if os.path.exists(cuda):
        found.append(Case("simulated device, training loop", [cuda, "100", "4000"],
                          environment={"LD_LIBRARY_PATH": f"{build}/tests/cudasim/cuda13"}))
    if os.path.exists(mpi):
        found.append(Case("MPI, halo exchange", [mpi, "4000"], ranks=2, mpi=True))
    if has_gpu():
        found += [
            Case("GPU, small network", python("gpu-small-network", 3000)),
            Case("GPU, small network, operators", python("gpu-small-network", 3000), "--torch-operators names"),
            Case("GPU, wide network", python("gpu-wide-network", 1500)),
            Case("GPU, convolution, batches from the host", python("gpu-convolution", 1500)),
        ]
    return found


class Runner:
    def __init__(self, build, folder):
        self.build, self.sonde, self.folder = build, f"{build}/bin/sonde", folder
        self.base = dict(os.environ, PYTHONPATH=f"{build}/lib/sonde/python", OPENBLAS_NUM_THREADS="1",
                         OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

    def environments(self, case):
        if case.ranks == 1 or case.mpi:
            return [{**self.base, **case.environment}]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        return [dict(self.base, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2", LOCAL_WORLD_SIZE="2",
                     MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port)) for rank in range(case.ranks)]

    def run(self, case, prefix, **more):
        command = prefix + case.command
        if case.mpi:
            command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(case.ranks)] + command
        jobs = [subprocess.Popen(command, env={**environment, **more}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                for environment in self.environments(case)]
        outputs = [job.communicate(timeout=300) for job in jobs]
        for job, (_, error) in zip(jobs, outputs):
            if job.returncode != 0:
                sys.exit(f"{case.name}: {' '.join(command)} ended with {job.returncode}:\n{error}")

    def watched(self, case, prefix):
        """The stamps of its iterations and the samples of the machine's speed."""
        stamps = self.folder / "stamps"
        with machine_speed.Watch(self.build) as watch:
            self.run(case, prefix, BENCH_STAMPS=str(stamps))
        return machine_speed.read_stamps(stamps), watch.samples

    def bare(self, case):
        """The windows of a run without Sonde."""
        return machine_speed.windows(*self.watched(case, []))

    def recorded(self, case):
        for old in self.folder.glob("*.sonde"):
            old.unlink()
        out = f"{self.folder}/rank%r.sonde" if case.ranks > 1 else f"{self.folder}/rank0.sonde"
        stamps, samples = self.watched(case, [self.sonde, "run", "-f", "-o", out, "--calibrate", *case.options, "--"])
        traces = sorted(map(str, self.folder.glob("*.sonde")))
        found, numbers = self.measured(traces)
        with sqlite3.connect(traces[0]) as trace:  # steps before the loop may be iterations as well
            (last,), = trace.execute("SELECT max(number) FROM iteration")
        own = numpy.array(numbers) + len(stamps) - 1 - last
        if own.min() < 0:
            sys.exit(f"{case.name}: iteration {numbers[0]} began before the loop")
        stamps = stamps[own]
        stamped = float((stamps[:, 1] - stamps[:, 0]).mean())
        if not 0.9 * stamped < found["raw_ns"] < 1.01 * stamped:
            sys.exit(f"{case.name}: iterations of {found['raw_ns']:.0f} ns are {stamped:.0f} ns by the job's clock")
        return {**found, "windows": machine_speed.windows(stamps, samples)}

    def measured(self, traces):
        """The mean iteration of rank 0 with all probes, and which ones those are."""
        rows = self.json(["breakdown", *traces, "--by", "rank,phase,iteration", "--format", "json"])["rows"]
        own = [row for row in rows if row["phase"] == "loop" and row["rank"] in (0, None) and row["iteration"] is not None]
        numbers = sorted({row["iteration"] for row in own})
        return {key: sum(row[key] for row in own) / len(numbers) for key in ("ns", "low_ns", "high_ns", "raw_ns")}, numbers

    def json(self, arguments, **environment):
        found = subprocess.run([self.sonde, *arguments], capture_output=True, text=True, env={**self.base, **environment}, check=False)
        if found.returncode != 0:
            sys.exit(found.stderr)
        return json.loads(found.stdout)


def measure(runner, case, number):
    """One round: the windows without Sonde, and what was found with it."""
    if number % 2 == 0:
        return {"bare": runner.bare(case), "recorded": runner.recorded(case)}
    recorded = runner.recorded(case)
    return {"bare": runner.bare(case), "recorded": recorded}


def biases(rounds, full):
    """corrected/truth - 1 of each round, and the truths in ns: what the run without Sonde of this round would have taken at the speed of
    the recorded one."""
    model = machine_speed.Model([one["bare"] for one in rounds], full)
    truths = [machine_speed.mean_ns(one["bare"]) * model.iteration_ns(one["recorded"]["windows"]) / model.iteration_ns(one["bare"])
              for one in rounds]
    return [one["recorded"]["ns"] / truth - 1 for one, truth in zip(rounds, truths)], truths


def error(rounds, full):
    """1.96 standard errors of the median bias, by drawing the rounds again."""
    drawn = random.Random(1)
    return 1.96 * statistics.stdev(statistics.median(biases(drawn.choices(rounds, k=len(rounds)), full)[0]) for _ in range(200))


def scatter(values):
    """Of rounds: a standard deviation, by the median of the distances from the median."""
    middle = statistics.median(values)
    return 1.4826 * statistics.median(abs(value - middle) for value in values)


def summarise(case, rounds):
    bare, recorded = [one["bare"] for one in rounds], [one["recorded"] for one in rounds]
    full = machine_speed.fastest(bare + [one["windows"] for one in recorded])
    found, truths = biases(rounds, full)
    as_it_was = [one["ns"] / machine_speed.mean_ns(run) - 1 for one, run in zip(recorded, bare)]
    half = statistics.median((each["high_ns"] - each["low_ns"]) / 2 / each["ns"] for each in recorded)
    own_error = error(rounds, full)
    bias = statistics.median(found)
    # The ends of the run's own interval, as biases.
    low, high = (statistics.median(each[end] / each["ns"] for each in recorded) * (1 + bias) - 1 for end in ("low_ns", "high_ns"))
    reach = bias - low if bias > 0 else high - bias
    return {"case": case.name, "truth_ns": statistics.median(truths),
            "speed": statistics.mean(machine_speed.speed(run, full) for run in bare),
            "speed_recorded": statistics.mean(machine_speed.speed(one["windows"], full) for one in recorded),
            "inflation": statistics.median(each["raw_ns"] / truth for each, truth in zip(recorded, truths)),
            "bias": bias, "low": low, "high": high, "half": half, "own_error": own_error,
            "bias_as_it_was": statistics.median(as_it_was), "scatter_as_it_was": scatter(as_it_was), "scatter": scatter(found),
            "inside": abs(bias) <= reach, "inside_with_error": abs(bias) <= math.hypot(reach, own_error),
            "spread": [min(found), max(found)], "default": not case.options}


def show(rows):
    print(f"{'case':38} {'speed':>11} {'iteration':>10} {'recorded':>9} {'bias':>17} {'rounds from … to':>18} {'interval':>16} {'as it was':>9}  inside")
    for row in rows:
        print(f"{row['case']:38} {row['speed']:5.2f} {row['speed_recorded']:5.2f} {row['truth_ns'] / 1e6:7.3f} ms {row['inflation']:7.3f} x "
              f"{100 * row['bias']:+6.2f} ± {100 * row['own_error']:5.2f} % {100 * row['spread'][0]:+7.1f} {100 * row['spread'][1]:+7.1f} % "
              f"{100 * row['low']:+6.1f} … {100 * row['high']:+5.1f} % {100 * row['bias_as_it_was']:+7.2f} %  "
              f"{'yes' if row['inside'] else 'with its error' if row['inside_with_error'] else 'NO'}")
    absolute = [abs(row["bias"]) for row in rows]
    print(f"mean |bias| {100 * statistics.mean(absolute):.2f} %, worst {100 * max(absolute):.2f} %; truth inside the interval in "
          f"{sum(row['inside'] for row in rows)} of {len(rows)}, with the bias's own error in "
          f"{sum(row['inside_with_error'] for row in rows)}; median half-width {100 * statistics.median(row['half'] for row in rows):.2f} %; "
          f"inflation with default probes at most {max(row['inflation'] for row in rows if row['default']):.3f} x")
    print(f"rounds of a case scatter by {100 * statistics.median(row['scatter'] for row in rows):.1f} % (median standard deviation), "
          f"by {100 * statistics.median(row['scatter_as_it_was'] for row in rows):.1f} % if no speed is considered")
    print(RL_SCOPE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/dev")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--cases", default="")
    parser.add_argument("--json")
    parser.add_argument("--awake", action="store_true")
    options = parser.parse_args()
    build = str(pathlib.Path(options.build).resolve())
    store = pathlib.Path(options.json) if options.json else None
    done = json.loads(store.read_text(encoding="utf-8")) if store and store.exists() else {}
    if any("bare" not in each for rounds in done.values() for each in rounds):
        parser.error(f"{store} is of another state of this program")
    chosen = [case for case in cases(build) if re.search(options.cases, case.name)]
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as loops:
        runner = Runner(build, pathlib.Path(folder))
        for processor in sorted(os.sched_getaffinity(0)) if options.awake else ():
            loop = subprocess.Popen([f"{build}/bench/correction_work", "awake", str(processor)])
            loops.callback(loop.kill)
        # One round of all cases after the other, so that each case sees the machine at ten times.
        for number in range(options.rounds):
            for case in chosen:
                rounds = done.setdefault(case.name, [])
                if len(rounds) > number:
                    continue
                rounds.append(measure(runner, case, number))
                print(f"round {number + 1}, {case.name}: {rounds[-1]['recorded']['ns'] / 1e6:.3f} ms", file=sys.stderr, flush=True)
                if store:
                    store.write_text(json.dumps(done, indent=1), encoding="utf-8")
    show([summarise(case, done[case.name]) for case in chosen])


if __name__ == "__main__":
    main()
