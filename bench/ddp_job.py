"""One rank of a real data-parallel training job over Gloo, for figures about replays and stragglers.

An ordinary PyTorch program. RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT say which rank it is. `--sleep` makes one rank's
data set sleep for each image.
"""
import argparse
import contextlib
import os
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

SIZE, CLASSES = 32, 16


class Noise(Dataset):
    """Random images with labels, drawn on demand."""

    def __init__(self, length, sleep):
        self.length, self.sleep = length, sleep

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        if self.sleep:
            time.sleep(self.sleep)
        return torch.randn(1, SIZE, SIZE, generator=generator), index % CLASSES


def cnn():
    return nn.Sequential(nn.Conv2d(1, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(24, 48, 3, padding=1), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Conv2d(48, 96, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                         nn.Linear(96 * (SIZE // 8) ** 2, 256), nn.ReLU(), nn.Linear(256, CLASSES))


def mlp():
    return nn.Sequential(nn.Flatten(), nn.Linear(SIZE * SIZE, 768), nn.ReLU(), nn.Linear(768, 768), nn.ReLU(),
                         nn.Linear(768, 768), nn.ReLU(), nn.Linear(768, CLASSES))


class Transformer(nn.Module):
    """The rows of an image are its tokens."""

    def __init__(self, width=128, layers=3):
        super().__init__()
        self.embed = nn.Linear(SIZE, width)
        self.layers = nn.Sequential(*(nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0, batch_first=True) for _ in range(layers)))
        self.classify = nn.Linear(width, CLASSES)

    def forward(self, images):
        return self.classify(self.layers(self.embed(images.squeeze(1))).mean(1))


MODELS = {"cnn": cnn, "mlp": mlp, "transformer": Transformer}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=MODELS, default="cnn")
    parser.add_argument("--bucket", type=float, default=1, help="most MB of a bucket of gradients")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--batch", type=int, default=16, help="images of a step on each rank")
    parser.add_argument("--workers", type=int, default=0, help="loader processes of each rank")
    parser.add_argument("--accumulate", type=int, default=1, help="micro-batches of a step, of which the last reduces gradients")
    parser.add_argument("--hook", choices=("fp16",), help="compress gradients")
    parser.add_argument("--sort", action="store_true", help="sort numbers in each step, for nothing")
    parser.add_argument("--sleep", help="RANK:SECONDS: this rank's data set sleeps so long for each image")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    slow, _, seconds = (arguments.sleep or "-1:0").partition(":")
    data = Noise(arguments.steps * arguments.accumulate * arguments.batch * world, float(seconds) if int(slow) == rank else 0)
    loader = DataLoader(data, arguments.batch, sampler=DistributedSampler(data), num_workers=arguments.workers)
    model = DistributedDataParallel(MODELS[arguments.model](), bucket_cap_mb=arguments.bucket)
    if arguments.hook == "fp16":
        model.register_comm_hook(None, fp16_compress_hook)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for number, (images, labels) in enumerate(loader, 1):
        is_last = number % arguments.accumulate == 0
        if arguments.sort:
            with torch.no_grad():
                torch.sort(images.repeat(1, 16, 1, 1).flatten())
        with contextlib.nullcontext() if is_last else model.no_sync():
            F.cross_entropy(model(images), labels).backward()
        if is_last:
            optimizer.step()
            optimizer.zero_grad()
    dist.barrier()
    # Gloo's threads may need the interpreter's lock, which PyTorch 1.13 holds while it waits for them to end.
    time.sleep(0.2)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
