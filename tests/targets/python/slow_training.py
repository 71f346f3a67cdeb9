"""A small training on the processor that is slow for a reason that a rule names; `healthy` has none.

    slow_training.py FAULT

With WORLD_SIZE above 1 it is data-parallel: `buckets` reduces each gradient alone, `late` makes rank 1 slow.
"""
import os
import sys
import time

import torch

FAULT = sys.argv[1]
WORLD = int(os.environ.get("WORLD_SIZE", "1"))
RANK = int(os.environ.get("RANK", "0"))
STEPS = 120
torch.manual_seed(3)
torch.set_num_threads(1)


class Samples(torch.utils.data.Dataset):
    def __len__(self):
        return STEPS * 8

    def __getitem__(self, index):
        if FAULT == "loader":
            time.sleep(0.004)
        return torch.full((64,), float(index % 7)), index % 4


model = torch.nn.Sequential(*(torch.nn.Linear(64, 64) for _ in range(12)), torch.nn.Linear(64, 4))
if WORLD > 1:
    torch.distributed.init_process_group("gloo")
    if FAULT != "buckets":
        model = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
kept = []
for number, (inputs, labels) in enumerate(torch.utils.data.DataLoader(Samples(), batch_size=8)):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(inputs), labels)
    loss.backward()
    if FAULT == "buckets":
        for parameter in model.parameters():
            torch.distributed.all_reduce(parameter.grad)
            parameter.grad /= WORLD
    optimizer.step()
    if FAULT == "leak":
        kept.append(torch.ones(1_000_000))
    if FAULT == "slower" and number >= 60:
        time.sleep(0.02)
    if FAULT == "late" and RANK == 1:
        time.sleep(0.06)
    if FAULT == "outliers" and number % 10 == 9:
        time.sleep(0.2)
    time.sleep(0.01)
