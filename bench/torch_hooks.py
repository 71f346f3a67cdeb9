#!/usr/bin/env python3
"""What PyTorch's hooks add to the calls that they record: the same calls with `sonde run` and without, in turns.

    bench/torch_hooks.py [--build build/dev] [--rounds 5]

Each call is made again and again, so that code and data of the hooks are in the caches: in a training step, which uses these for
itself, it takes two to three times that (bench/correction_accuracy.py has whole steps). "child" as first argument makes the calls."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

CALLS = 100
BATCHES = 30
INNER = 40


def spent(function):
    """ns of a call: the fastest quarter of batches."""
    times = []
    for _ in range(BATCHES):
        begin = time.perf_counter_ns()
        for _ in range(CALLS):
            function()
        times.append((time.perf_counter_ns() - begin) / CALLS)
    return sorted(times)[BATCHES // 4]


def child():
    import sonde
    import torch

    torch.set_num_threads(1)
    parameter = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([parameter], lr=0.01)
    outer, deep = (torch.nn.Sequential(*[torch.nn.Identity() for _ in range(count)]) for count in (1, 1 + INNER))

    def forward():
        return (parameter * 1).sum()

    def iteration():
        with sonde.iteration():
            pass

    found = {}
    with sonde.iteration():
        forward().backward()  # from here on the model has been trained
        found["the outermost module, and one in it"] = spent(lambda: outer(parameter))
        found["each module inside"] = (spent(lambda: deep(parameter)) - found["the outermost module, and one in it"]) / INNER
        found["backward, and the loss"] = spent(lambda: forward().backward()) - spent(forward)
        found["step of an optimiser"] = spent(optimizer.step)
    found["iteration"] = spent(iteration)
    print(json.dumps(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/dev")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    build = pathlib.Path(options.build).resolve()
    environment = dict(os.environ, PYTHONPATH=str(build / "lib/sonde/python"))
    command = ["/usr/bin/python3", __file__, "child"]
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        recorded = [build / "bin/sonde", "run", "-f", "-o", f"{folder}/t.sonde", "--", *command]
        for number in range(options.rounds):
            order = (command, recorded) if number % 2 == 0 else (recorded, command)
            outputs = {id(each): subprocess.run(each, env=environment, check=True, stdout=subprocess.PIPE,
                                                stderr=subprocess.DEVNULL, text=True).stdout for each in order}
            rounds.append([json.loads(outputs[id(each)]) for each in (command, recorded)])
    for name in rounds[0][0]:
        added = [with_it[name] - without[name] for without, with_it in rounds]
        print(f"{name:38} {statistics.median(without[name] for without, _ in rounds):8.0f} ns, with Sonde "
              f"{statistics.median(added):+6.0f} ns ({min(added):+.0f} … {max(added):+.0f})")


if __name__ == "__main__":
    child() if sys.argv[1:2] == ["child"] else main()
