#!/usr/bin/env python3
"""Trains a small convolutional network on generated images, data-parallel over Gloo: what the demo profiles.

An ordinary PyTorch program that knows nothing of Sonde. Start it once per rank, or alone:

    export WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500
    RANK=0 train_ddp.py & RANK=1 train_ddp.py

Each image shows a bar at one of sixteen angles, under noise; the network tells which. Same seed, same losses.
"""
import argparse
import math
import os
import tempfile
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

SIZE, CLASSES = 32, 16


class Bars(Dataset):
    """Noisy images of a bar. The DataLoader's worker processes draw each image on demand."""

    def __init__(self, length, seed, views):
        self.length, self.seed, self.views = length, seed, views
        axis = torch.linspace(-1, 1, SIZE)
        self.y, self.x = torch.meshgrid(axis, axis, indexing="ij")

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + index)
        label = int(torch.randint(CLASSES, (1,), generator=generator))
        angle = math.pi * label / CLASSES
        distance = self.x * math.sin(angle) - self.y * math.cos(angle)
        bar = torch.exp(-(distance * 6) ** 2)
        views = [bar + torch.randn(SIZE, SIZE, generator=generator) for _ in range(self.views)]
        return sum(views[1:], views[0]).div(self.views).unsqueeze(0), label


class Network(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(2 * width, 4 * width, 3, padding=1), nn.BatchNorm2d(4 * width), nn.ReLU(), nn.MaxPool2d(2))
        self.head = nn.Sequential(nn.Linear(4 * width * (SIZE // 8) ** 2, 256), nn.ReLU(), nn.Linear(256, CLASSES))

    def forward(self, images):
        return self.head(self.features(images).flatten(1))


def train(model, optimizer, loader, epoch, rank):
    model.train()
    loader.sampler.set_epoch(epoch)
    for step, (images, labels) in enumerate(loader):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        print(f"rank {rank} epoch {epoch} step {step} loss {loss.item():.9g}", flush=True)


@torch.no_grad()
def evaluate(model, loader):
    """The share of images that the network gets right, over all ranks."""
    model.eval()
    right = torch.zeros(2)
    for images, labels in loader:
        right += torch.tensor([(model(images).argmax(1) == labels).sum(), len(labels)])
    dist.all_reduce(right)
    return (right[0] / right[1]).item()


def save(model, optimizer, rank):
    """Rank 0 writes a checkpoint and reads it back."""
    if rank == 0:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "checkpoint.pt")
            torch.save({"model": model.module.state_dict(), "optimizer": optimizer.state_dict()}, path)
            torch.load(path)
    dist.barrier()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--steps", type=int, default=15, help="iterations of an epoch")
    parser.add_argument("--batch", type=int, default=32, help="images of an iteration on each rank")
    parser.add_argument("--workers", type=int, default=2, help="processes that draw images, for each rank; 0: itself")
    parser.add_argument("--views", type=int, default=1, help="noisy views of which an image is the mean")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    for name, value in {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}.items():
        os.environ.setdefault(name, value)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()

    def loader(images, seed):
        data = Bars(images, seed, arguments.views)
        sampler = DistributedSampler(data, shuffle=seed == 0)
        return DataLoader(data, arguments.batch, sampler=sampler, num_workers=arguments.workers)

    training = loader(arguments.steps * arguments.batch * world, seed=0)
    validation = loader(4 * arguments.batch * world, seed=1)
    # Small buckets: the first gradients are sent while the rest of backward still runs.
    model = DistributedDataParallel(Network(), bucket_cap_mb=1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    for epoch in range(arguments.epochs):
        train(model, optimizer, training, epoch, rank)
        accuracy = evaluate(model, validation)
        if rank == 0:
            print(f"epoch {epoch} accuracy {accuracy:.3f}", flush=True)
    save(model, optimizer, rank)
    # Gloo's threads may still be releasing tensors, for which they need the interpreter's lock. PyTorch 1.13 holds it while it
    # waits for them to end, and so waits for ever. While this thread sleeps, the lock is free.
    time.sleep(0.2)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
