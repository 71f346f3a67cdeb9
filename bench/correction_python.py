"""Jobs in Python whose iterations do something that Sonde records: correction_python.py WHAT ITERATIONS. Prints "mean NS" of
an iteration, by its own clock. bench/correction_accuracy.py runs it with Sonde and without, and compares."""
import array
import concurrent.futures
import ctypes
import os
import sys
import tempfile
import time

import sonde


def busy(rounds):
    total = 0
    for one in range(rounds):
        total += one * one
    return total


def annotated():
    def step():
        for _ in range(100):
            with sonde.operation("step"):
                busy(60)
    return step


def plain():
    return lambda: busy(20_000)


def reinforcement(replay):
    """A simulator in native code and a policy; on-policy acts often, off-policy learns from a replay buffer."""
    import numpy

    state = numpy.zeros(8)
    policy = numpy.ones((8, 4)) * 0.1
    drift = numpy.eye(8) * 0.99
    memory = []

    def simulate():
        nonlocal state
        for _ in range(4):
            state = numpy.clip(numpy.dot(drift, state) + 0.01, -1, 1)
        return state

    def step():
        nonlocal policy
        for _ in range(10 if replay else 40):
            with sonde.operation("simulation"):
                seen = simulate()
            with sonde.operation("inference"):
                action = numpy.argmax(numpy.dot(seen, policy))
            memory.append((seen, action))
            busy(30)
        with sonde.operation("learning"):
            for seen, _ in memory[-(60 if replay else 20):]:
                wrong = numpy.tanh(numpy.dot(seen, policy)) - 0.5  # ends at 0: towards no weights it ends in slow subnormals
                policy = policy - 0.001 * numpy.outer(seen, wrong)
        del memory[:-60]
    return step


def network(width, layers, batch, device="cpu"):
    """On a GPU each step ends by reading the loss."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    inside = [layer for _ in range(layers) for layer in (torch.nn.Linear(width, width), torch.nn.ReLU())]
    model = torch.nn.Sequential(*inside, torch.nn.Linear(width, 10)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss_of = torch.nn.CrossEntropyLoss()
    data, target = torch.randn(batch, width, device=device), torch.randint(0, 10, (batch,), device=device)

    def step():
        optimizer.zero_grad()
        loss = loss_of(model(data), target)
        loss.backward()
        optimizer.step()
        if device != "cpu":
            loss.item()
    return step


def convolution(batch, size, device="cpu"):
    """On a GPU each step copies its batch there and ends by waiting for the device."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3), torch.nn.ReLU(), torch.nn.Conv2d(16, 16, 3), torch.nn.ReLU(),
                                torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(16, 10)).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    data, target = torch.randn(batch, 3, size, size), torch.randint(0, 10, (batch,), device=device)
    if device != "cpu":
        data = data.pin_memory()

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(data.to(device, non_blocking=True)), target).backward()
        optimizer.step()
        if device != "cpu":
            torch.cuda.synchronize()
    return step


def loader():
    """Reads its batches from files."""
    import numpy

    folder = tempfile.mkdtemp()
    for part in range(16):
        numpy.save(f"{folder}/{part}.npy", numpy.ones(4096, dtype=numpy.float32))

    def step():
        total = 0.0
        for part in range(16):
            total += float(numpy.load(f"{folder}/{part}.npy").sum())
        busy(2_000)
        return total
    return step


def pool():
    import numpy

    executor = concurrent.futures.ThreadPoolExecutor(2)
    block = numpy.ones((96, 96))

    def step():
        list(executor.map(lambda _: block.dot(block).sum(), range(8)))
        busy(1_000)
    return step


def parallel():
    """One of two ranks that train the same model."""
    import torch
    import torch.distributed

    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo")
    torch.manual_seed(0)
    inside = [layer for _ in range(4) for layer in (torch.nn.Linear(192, 192), torch.nn.ReLU())]
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*inside))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = torch.randn(64, 192)

    def step():
        optimizer.zero_grad()
        model(data).square().mean().backward()
        optimizer.step()
    return step


JOBS = {"annotated": annotated, "plain": plain, "on-policy": lambda: reinforcement(False),
        "off-policy": lambda: reinforcement(True), "small-network": lambda: network(64, 2, 16),
        "network": lambda: network(256, 4, 64), "convolution": lambda: convolution(4, 24), "loader": loader, "pool": pool,
        "parallel": parallel, "gpu-small-network": lambda: network(64, 2, 16, "cuda"),
        "gpu-wide-network": lambda: network(2048, 4, 2048, "cuda"), "gpu-convolution": lambda: convolution(64, 64, "cuda")}


def write(stamps):
    """As bench/iteration_stamps.h does."""
    begins, ends, processors = stamps
    print("mean", (sum(ends) - sum(begins)) // len(ends), flush=True)
    if "BENCH_STAMPS" in os.environ:
        with open(os.environ["BENCH_STAMPS"], "wb") as file:
            array.array("q", (part for stamp in zip(begins, ends, processors) for part in stamp)).tofile(file)


def main():
    what, iterations = sys.argv[1], int(sys.argv[2])
    step = JOBS[what]()
    for _ in range(5):
        step()
    begins, ends, processors = [0] * iterations, [0] * iterations, [0] * iterations
    now, processor = time.perf_counter_ns, ctypes.CDLL(None).sched_getcpu
    with sonde.phase("loop"):
        for number in range(iterations):
            begins[number] = now()
            with sonde.iteration():
                step()
            ends[number] = now()
            processors[number] = processor()
    if os.environ.get("RANK", "0") == "0":
        write((begins, ends, processors))
    os._exit(0) if what == "parallel" else None


if __name__ == "__main__":
    main()
