#!/usr/bin/env python3
"""What recording PyTorch's operators costs: the same small operator bare, under `sonde run` without and with them, and under
torch.profiler, in turns.

torch_operators.py BUILD_FOLDER [ROUNDS] [PYTHON]

Prints the time of a call, what it is above the bare one beside it, and the ratio to that with the lowest and highest.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

PROGRAM = """
import sys, time, timeit
import torch
from torch.profiler import ProfilerActivity, profile
torch.set_num_threads(1)
x = torch.ones(1)
def batch():
    return timeit.timeit("x.add_(1)", globals=globals(), number=5000) / 5000 * 1e9
batches = []
for _ in range(15):
    if sys.argv[1:]:
        with profile(activities=[ProfilerActivity.CPU], record_shapes=sys.argv[1] == "shapes"):
            batches.append(batch())
    else:
        batches.append(batch())
    time.sleep(0.03)
print(sorted(batches)[7])
"""


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    python = sys.argv[3] if len(sys.argv) > 3 else "/usr/bin/python3"
    with tempfile.TemporaryDirectory() as folder:
        def recorded(*options):
            return [str(build / "bin/sonde"), "run", "-f", "-o", f"{folder}/out.sonde", *options, "--"]
        ways = {"bare": ([], []), "sonde": (recorded(), []), "names": (recorded("--torch-operators", "names"), []),
                "shapes": (recorded("--torch-operators", "shapes"), []), "torch.profiler, names": ([], ["names"]),
                "torch.profiler, shapes": ([], ["shapes"])}
        results = {way: [] for way in ways}
        for _ in range(rounds):
            for way, (front, words) in ways.items():
                output = subprocess.run([*front, python, "-c", PROGRAM, *words], env=os.environ, check=True,
                                        capture_output=True, text=True).stdout
                results[way].append(float(output.split()[-1]))
        for way, of_rounds in results.items():
            ratios = sorted(each / base for each, base in zip(of_rounds, results["bare"]))
            extra = statistics.median(each - base for each, base in zip(of_rounds, results["bare"]))
            print(f"{way:24} {statistics.median(of_rounds):8.0f} ns  {extra:+8.0f} ns  x {statistics.median(ratios):6.3f}  "
                  f"({ratios[0]:.3f} to {ratios[-1]:.3f})")


if __name__ == "__main__":
    main()
