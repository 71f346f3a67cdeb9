#!/usr/bin/env python3
"""What looking at a tensor costs, against the same numbers by PyTorch and NumPy; and a training step whose tensors are all looked
at, in turns with one that is not.

tensor_statistics.py BUILD_FOLDER [ROUNDS] [PYTHON]

Prints for sizes of tensors the time of one look, and the ratios to PyTorch's and NumPy's beside it with the lowest and highest of
the rounds; then the mean step of a small network under `sonde run` without and with the probe `tensor` at each, each 10th
and each 100th iteration, and while the first NaN is looked for.
"""
import pathlib
import statistics
import subprocess
import sys
import tempfile

LOOKS = """
import sys, time
import numpy, sonde, torch
torch.set_num_threads(1)
def by_torch(x):
    y = x.double()
    return [y.min(), y.max(), y.mean(), y.var(unbiased=False), y.norm(1), y.norm(2), (y == 0).sum(), y.isnan().sum(),
            y.isinf().sum(), torch.histc(y, 256)]
def by_numpy(x):
    y = x.numpy().astype(numpy.float64)
    return [y.min(), y.max(), y.mean(), y.var(), abs(y).sum(), (y * y).sum(), (y == 0).sum(), numpy.isnan(y).sum(),
            numpy.isinf(y).sum(), numpy.histogram(y, 256)]
def timed(function, count):
    began = time.thread_time()
    for _ in range(count):
        function()
    return (time.thread_time() - began) / count * 1e6
with sonde.iteration():
    for size in (10, 1000, 100_000, 10_000_000):
        x = torch.randn(size)
        count = max(3, min(300, 3_000_000 // size))
        row = [timed(function, count) for function in (lambda: sonde.tensor("x", x), lambda: by_torch(x), lambda: by_numpy(x))]
        print(size, *row)
"""
STEPS = """
import statistics, time, torch
torch.set_num_threads(1)
model = torch.nn.Sequential(*[layer for _ in range(4) for layer in (torch.nn.Linear(256, 256), torch.nn.ReLU())])
optimizer = torch.optim.Adam(model.parameters())
times = []
for _ in range(300):
    began = time.perf_counter()
    optimizer.zero_grad()
    model(torch.randn(64, 256)).pow(2).mean().backward()
    optimizer.step()
    times.append(time.perf_counter() - began)
print(statistics.mean(times[50:]) * 1e3)
"""


WAYS = {"not at all": "", "each iteration": "[tensors]\nevery = 1\n", "each 10th": "[tensors]\nevery = 10\n",
        "each 100th": "[tensors]\nevery = 100\n", "first NaN": "[tensors]\nfirst-nan = true\n[tensors.losses]\n"}


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    python = sys.argv[3] if len(sys.argv) > 3 else "/usr/bin/python3"
    with tempfile.TemporaryDirectory() as folder:
        def run(program, *options):
            front = [str(build / "bin/sonde"), "run", "-f", "-o", f"{folder}/out.sonde", *options, "--"]
            return subprocess.run([*front, python, "-c", program], check=True, capture_output=True, text=True).stdout

        looks = {}
        for _ in range(rounds):
            for line in run(LOOKS, "--sources", "annotation,torch,tensor").splitlines():
                size, *times = map(float, line.split())
                looks.setdefault(int(size), []).append(times)
        for size, rows in looks.items():
            line = f"{size:10,} elements {statistics.median(row[0] for row in rows):10.1f} µs"
            for at, name in ((1, "PyTorch"), (2, "NumPy")):
                ratios = sorted(row[0] / row[at] for row in rows)
                line += f"   x {statistics.median(ratios):5.2f} of {name}'s ({ratios[0]:.2f} to {ratios[-1]:.2f})"
            print(line)
        results = {}
        for _ in range(rounds):
            for what in WAYS:
                plan = pathlib.Path(folder, "plan.toml")
                plan.write_text(WAYS[what])
                options = ("--sources", "+tensor", "--tensors", str(plan)) if WAYS[what] else ()
                results.setdefault(what, []).append(float(run(STEPS, *options)))
        for what, times in results.items():
            ratios = sorted(each / base for each, base in zip(times, results["not at all"]))
            print(f"{what:20} {statistics.median(times):8.2f} ms a step  x {statistics.median(ratios):6.3f}  "
                  f"({ratios[0]:.3f} to {ratios[-1]:.3f})")


if __name__ == "__main__":
    main()
