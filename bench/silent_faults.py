"""A small data-parallel training over Gloo in which something can silently go wrong, for figures about learned invariants.

An ordinary PyTorch program: two branches and a tied weight, dropout, weight decay of matrices only, gradient accumulation and
clipping, a learning rate schedule, an evaluation after each epoch. `--fault NAME` breaks one thing; the loss still falls, or does
not, but nothing fails. It prints the first iteration in which the fault acts. Without RANK it starts all ranks itself.
"""
import argparse
import contextlib
import copy
import os
import socket
import subprocess
import sys

WIDTH, CLASSES, BATCH, ACCUMULATE = 32, 8, 16, 2
STEPS, EPOCHS = 10, 3  # iterations of an epoch
FAULTS = {  # the first iteration in which each can act; MIDDLE: --from says
    "no_zero_grad": "MIDDLE", "frozen_layer": "MIDDLE", "same_shard": STEPS, "eval_dropout": STEPS - 1, "no_dropout": STEPS - 1,
    "no_broadcast": 0, "no_reduce": "MIDDLE", "shuffled_labels": "MIDDLE", "summed_loss": "MIDDLE", "fixed_rate": "MIDDLE",
    "stale_optimizer": 0, "decay_all": 0, "decay_doubled": 0, "clip_late": "MIDDLE", "no_clip": "MIDDLE", "raw_inputs": "MIDDLE",
    "double_softmax": "MIDDLE", "detached_branch": "MIDDLE", "float64_layer": "MIDDLE", "half_inputs": "MIDDLE",
    "ragged_batch": STEPS, "untied": 0, "accumulate_three": "MIDDLE"}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fault", choices=FAULTS)
    parser.add_argument("--from", dest="begin", type=int, default=15, help="iteration in which the fault begins, if it can begin late")
    parser.add_argument("--ranks", type=int, default=2)
    return parser.parse_args()


def start_ranks(ranks):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    place = {"WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    started = [subprocess.Popen([sys.executable, *sys.argv], env={**os.environ, **place, "RANK": str(rank)}) for rank in range(ranks)]
    sys.exit(max(process.wait() for process in started))


ARGUMENTS = parse_arguments()
if "RANK" not in os.environ:
    start_ranks(ARGUMENTS.ranks)

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

try:
    from sonde import scalar
except ImportError:
    def scalar(name, value):
        pass


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(WIDTH, WIDTH, bias=False)
        self.norm = nn.LayerNorm(WIDTH)
        self.wide = nn.Linear(WIDTH, WIDTH)
        self.deep = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH))
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(WIDTH, CLASSES)
        self.rebuild = nn.Linear(WIDTH, WIDTH, bias=False)
        if ARGUMENTS.fault != "untied":
            self.rebuild.weight = self.embed.weight
        self.is_detached = False

    def forward(self, inputs):
        hidden = self.norm(self.embed(inputs))
        deep = self.deep(hidden.to(self.deep[0].weight.dtype)).to(hidden.dtype)
        hidden = self.dropout(F.relu(self.wide(hidden) + (deep.detach() if self.is_detached else deep)))
        return self.head(hidden), self.rebuild(hidden)


def made_up_data(count, seed):
    centres = 0.4 * torch.randn(CLASSES, WIDTH, generator=torch.Generator().manual_seed(7))
    draw = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, CLASSES, (count,), generator=draw)
    return 40 + 5 * (centres[labels] + torch.randn(count, WIDTH, generator=draw)), labels


class Shard(torch.utils.data.Dataset):
    """The part of a rank: normalised."""

    def __init__(self, data, rank, world):
        self.inputs, self.labels = data[0][rank::world], data[1][rank::world]
        self.mean, self.deviation = data[0].mean(0), data[0].std(0)
        self.is_raw = self.is_shuffled = False

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        inputs = self.inputs[index]
        label = self.labels[(index + 1) % len(self) if self.is_shuffled else index]
        return inputs if self.is_raw else (inputs - self.mean) / self.deviation, label


class Training:
    def __init__(self, rank, world):
        self.rank, self.world, self.fault = rank, world, ARGUMENTS.fault
        torch.manual_seed(1000 * ARGUMENTS.seed + rank)
        data = made_up_data(world * (STEPS * ACCUMULATE * BATCH + 7), 1)
        self.shards = [Shard(data, each, world) for each in range(world)]
        self.evaluation_data = made_up_data(64, 2)
        self.model = Net()
        if self.fault != "no_broadcast":
            for parameter in self.model.parameters():
                dist.broadcast(parameter.data, 0)
        self.optimizer = self.made_optimizer()
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda step: min(1, (step + 1) / 5) / (1 + step / 20))
        if self.fault == "stale_optimizer":
            self.model = copy.deepcopy(self.model)
        begin = FAULTS.get(self.fault)
        self.begin = ARGUMENTS.begin if begin == "MIDDLE" else begin
        self.iteration = 0

    def made_optimizer(self):
        decay = 0.02 if self.fault == "decay_doubled" else 0.01
        parameters = list(self.model.parameters())
        matrices = [each for each in parameters if each.dim() > 1 or self.fault == "decay_all"]
        others = [each for each in parameters if each.dim() <= 1 and self.fault != "decay_all"]
        groups = [{"params": matrices, "weight_decay": decay}] + ([{"params": others, "weight_decay": 0}] if others else [])
        return torch.optim.SGD(groups, lr=0.2, momentum=0.9)

    def has(self, fault):
        return self.fault == fault and self.iteration >= self.begin

    def loader(self):
        shard = self.shards[0 if self.has("same_shard") else self.rank]
        order = torch.Generator().manual_seed(10 * ARGUMENTS.seed + self.iteration)
        return torch.utils.data.DataLoader(shard, BATCH, shuffle=True, drop_last=self.fault != "ragged_batch", generator=order)

    def loss_of(self, inputs, labels):
        if self.has("half_inputs"):
            inputs = inputs.half().float()
        scores, rebuilt = self.model(inputs)
        if self.has("double_softmax"):
            scores = F.softmax(scores, 1)
        loss = F.cross_entropy(scores, labels, reduction="sum" if self.has("summed_loss") else "mean")
        return loss + 0.1 * F.mse_loss(rebuilt, inputs)

    def reduce_gradients(self):
        for name, parameter in self.model.named_parameters():
            if parameter.grad is None or (self.has("no_reduce") and name == "deep.0.weight"):
                continue
            dist.all_reduce(parameter.grad)
            parameter.grad /= self.world

    def clip(self):
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)

    def begin_fault(self):
        if self.has("frozen_layer"):
            for parameter in self.model.wide.parameters():
                parameter.requires_grad_(False)
                parameter.grad = None
        self.model.is_detached = self.has("detached_branch")
        if self.has("float64_layer"):
            self.model.deep.double()
        for shard in self.shards:
            shard.is_raw, shard.is_shuffled = self.has("raw_inputs"), self.has("shuffled_labels")

    def step(self, batches, micro_steps):
        self.begin_fault()
        if not self.has("no_zero_grad"):
            self.optimizer.zero_grad()
        for _ in range(micro_steps):
            inputs, labels = next(batches)
            (self.loss_of(inputs, labels) / ACCUMULATE).backward()
        self.reduce_gradients()
        if not (self.has("clip_late") or self.has("no_clip")):
            self.clip()
        self.optimizer.step()
        if self.has("clip_late"):
            self.clip()
        scalar("learning rate", self.optimizer.param_groups[0]["lr"])
        if not self.has("fixed_rate"):
            self.schedule.step()
        self.iteration += 1

    def train(self):
        if self.fault != "no_dropout" or self.iteration == 0:
            self.model.train()
        batches = iter(self.loader())
        left = STEPS * ACCUMULATE
        while left > 0:
            micro_steps = min(left, 3 if self.has("accumulate_three") else ACCUMULATE)
            self.step(batches, micro_steps)
            left -= micro_steps
        if self.fault == "ragged_batch":
            self.step(batches, 1)

    def evaluate(self):
        if self.fault != "eval_dropout":
            self.model.eval()
        shard = Shard(self.evaluation_data, 0, 1)
        with torch.no_grad():
            inputs, labels = torch.utils.data.default_collate([shard[index] for index in range(len(shard))])
            scores, _ = self.model(inputs)
            scalar("accuracy", (scores.argmax(1) == labels).float().mean())


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    training = Training(dist.get_rank(), dist.get_world_size())
    if training.rank == 0 and training.fault:
        print("the fault acts from iteration", training.begin, flush=True)
    for _ in range(EPOCHS):
        training.train()
        training.evaluate()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
