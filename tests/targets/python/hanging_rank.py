"""A rank of a DistributedDataParallel job over Gloo. Rank 1 leaves the loop at step 12 and sleeps; the others wait for it."""
import sys
import time

import torch
import torch.distributed as dist

torch.set_num_threads(1)
dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(1000):
    if dist.get_rank() == 1 and step == 12:
        print("waits", flush=True)
        time.sleep(600)
    optimizer.zero_grad()
    model(torch.randn(4, 8)).sum().backward()
    optimizer.step()
    if step == 11:
        print("step 11", file=sys.stderr, flush=True)
