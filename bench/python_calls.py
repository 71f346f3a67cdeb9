#!/usr/bin/env python3
"""What probe python costs a program: the same work bare, under `sonde run` without and with the probe, and under cProfile, in turns.

python_calls.py BUILD_FOLDER [ROUNDS]

Three kinds of work: calls of a native method of a tensor that does next to nothing, calls of a Python function, and steps of a
small network. Prints for each the time of a call or step, and the ratio to the bare one beside it with the lowest and highest.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

PROGRAM = """
import json, sys, time, timeit
import torch
torch.set_num_threads(1)
x = torch.ones(1)
def python(): pass
net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
data, target = torch.ones(32, 64), torch.ones(32, 8)
def step():
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(net(data), target).backward()
    optimizer.step()
def measured():
    spent = {}
    for name, statement, count in (("native call", "x.dim()", 20000), ("Python call", "python()", 20000), ("step", "step()", 50)):
        timer = timeit.Timer(statement, globals=globals())
        batches = []
        for _ in range(15):
            batches.append(timer.timeit(count) / count * 1e9)
            time.sleep(0.02)
        spent[name] = sorted(batches)[7]
    return spent
if sys.argv[1:] == ["cProfile"]:
    import cProfile
    profile = cProfile.Profile()
    profile.enable()
    spent = measured()
    profile.disable()
else:
    spent = measured()
print(json.dumps(spent))
"""


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    with tempfile.TemporaryDirectory() as folder:
        def recorded(*options):
            return [str(build / "bin/sonde"), "run", "-f", "-o", f"{folder}/out.sonde", *options, "--"]
        ways = {"bare": ([], []), "sonde": (recorded(), []), "sonde +python": (recorded("--sources", "+python"), []),
                "cProfile": ([], ["cProfile"])}
        results = {way: [] for way in ways}
        for _ in range(rounds):
            for way, (front, words) in ways.items():
                output = subprocess.run([*front, "/usr/bin/python3", "-c", PROGRAM, *words], env=os.environ, check=True,
                                        capture_output=True, text=True).stdout
                results[way].append(json.loads(output))
        for work in results["bare"][0]:
            for way, of_rounds in results.items():
                ratios = sorted(each[work] / base[work] for each, base in zip(of_rounds, results["bare"]))
                extra = statistics.median(each[work] - base[work] for each, base in zip(of_rounds, results["bare"]))
                print(f"{work:12} {way:14} {statistics.median(each[work] for each in of_rounds):10.0f} ns  {extra:+9.0f} ns  "
                      f"x {statistics.median(ratios):6.3f}  ({ratios[0]:.3f} to {ratios[-1]:.3f})")


if __name__ == "__main__":
    main()
