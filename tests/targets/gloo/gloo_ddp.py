"""One rank of a real PyTorch job over Gloo: direct collectives, two groups, asynchronous calls, DDP.

Prints, one line each, what it called: the group's name, the operation, its bytes.
"""
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

torch.set_num_threads(1)
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])


def say(group, operation, elements):
    print(group, operation, elements * 4)


def direct(group, name):
    dist.all_reduce(torch.ones(1000), group=group)
    say(name, "gloo:all_reduce", 1000)
    dist.broadcast(torch.ones(300), src=1, group=group)
    say(name, "gloo:broadcast", 300)
    dist.all_gather([torch.zeros(50) for _ in range(size)], torch.ones(50), group=group)
    say(name, "gloo:all_gather", 50 * size)
    dist.reduce(torch.ones(70), dst=0, group=group)
    say(name, "gloo:reduce", 70)
    dist.gather(torch.ones(20), [torch.zeros(20) for _ in range(size)] if rank == 0 else None, dst=0, group=group)
    say(name, "gloo:gather", 20 * size)
    dist.scatter(torch.zeros(30), [torch.ones(30) for _ in range(size)] if rank == 0 else None, src=0, group=group)
    say(name, "gloo:scatter", 30 * size)
    dist.all_to_all_single(torch.zeros(10 * size), torch.ones(10 * size), group=group)
    say(name, "gloo:all_to_all", 10 * size)
    dist.barrier(group=group)
    say(name, "gloo:barrier", 0)


def asynchronous(name):
    # Gloo runs these on two threads, so they may finish in another order on each rank.
    works = [dist.all_reduce(torch.ones(2000 + at), async_op=True) for at in range(40)]
    for at, work in enumerate(works):
        work.wait()
        say(name, "gloo:all_reduce", 2000 + at)


def train(name):
    torch.manual_seed(0)
    model = torch.nn.Sequential(*[torch.nn.Linear(600, 600) for _ in range(4)])
    parallel = DistributedDataParallel(model, bucket_cap_mb=2)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.01)
    for _ in range(5):
        optimizer.zero_grad()
        parallel(torch.ones(8, 600)).sum().backward()
        optimizer.step()
    data = parallel._get_ddp_logging_data()
    print("buckets", data["bucket_sizes"].replace(" ", ""), data.get("rebuilt_bucket_sizes", "").replace(" ", ""))


def main():
    dist.init_process_group("gloo")
    direct(None, "gloo:2:0")
    direct(dist.new_group([0, 1]), "gloo:2:1")
    asynchronous("gloo:2:0")
    train("gloo:2:0")
    time.sleep(0.2)  # as in scripts/demo/train_ddp.py: Gloo's threads may need the interpreter's lock to end
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
