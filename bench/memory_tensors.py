#!/usr/bin/env python3
"""What it costs to make a tensor of PyTorch's and drop it, and to add two: memory_tensors.py [BATCHES]

Prints the median over batches of 2,000, and the lower and upper tenth, in ns. bench/memory_overhead.py compares.
"""
import sys
import time

import torch

CALLS = 2000


def ns_each(act):
    begin = time.perf_counter_ns()
    for _ in range(CALLS):
        act()
    return (time.perf_counter_ns() - begin) / CALLS


def main():
    torch.set_num_threads(1)
    left, right = torch.ones(64), torch.ones(64)
    acts = {"empty tensor": lambda: torch.empty(16), "sum of tensors": lambda: torch.add(left, right)}
    batches = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    found = {name: [] for name in acts}
    for _ in range(batches):
        for name, act in acts.items():
            found[name].append(ns_each(act))
    for name, values in found.items():
        values.sort()
        low, middle, high = (values[int(share * (len(values) - 1))] for share in (0.1, 0.5, 0.9))
        print(f"{name:16} {middle:7.1f}  ({low:.1f} to {high:.1f})")


if __name__ == "__main__":
    main()
