"""A small training on the processor with a fault that a rule finds; `healthy` has none.

The twin of `sigmoids` is `relus`: the same depth with another activation. `separate` is for two ranks: they do not
reduce their gradients; `together` does.
"""
import collections
import os
import sys

import sonde
import torch

FAULT = sys.argv[1]
STEPS = 40
RATES = {"huge_rate": 1e6, "tiny_rate": 1e-13, "small_rate": 1e-4, "sigmoids": 1.0}
MOMENTA = {"huge_rate": 10, "sigmoids": 0.9}
torch.manual_seed(3)
torch.set_num_threads(1)


def layers():
    if FAULT in ("sigmoids", "relus"):
        function = torch.nn.Sigmoid if FAULT == "sigmoids" else torch.nn.ReLU
        for number in range(12):
            yield f"fc{number}", torch.nn.Linear(8, 8)
            yield f"{'relu' if FAULT == 'relus' else 'act'}{number}", function()
    else:
        yield "hidden", torch.nn.Linear(8, 8)
        yield "relu", torch.nn.ReLU()
    yield "last", torch.nn.Linear(8, 2)


model = torch.nn.Sequential(collections.OrderedDict(layers()))
for parameter in model.parameters():
    if FAULT == "zero_weights":
        torch.nn.init.zeros_(parameter)
    elif FAULT == "relus" and parameter.dim() > 1:
        torch.nn.init.kaiming_uniform_(parameter, nonlinearity="relu")
rank = int(os.environ.get("RANK", "0"))
if FAULT in ("separate", "together"):
    torch.distributed.init_process_group("gloo")
    torch.manual_seed(4 + rank)  # each rank has its own data
optimizer = torch.optim.SGD(model.parameters(), lr=RATES.get(FAULT, 0.1),
                            momentum=MOMENTA.get(FAULT, 0))
for number in range(STEPS):
    labels = torch.randint(0, 2, (64,))
    inputs = torch.randn(64, 8) + 3 * (2 * labels[:, None] - 1)
    optimizer.zero_grad()
    scores = model(inputs)
    loss = torch.nn.functional.cross_entropy(scores, labels)
    loss.backward()
    if FAULT == "together":
        for parameter in model.parameters():
            torch.distributed.all_reduce(parameter.grad)
            parameter.grad /= torch.distributed.get_world_size()
    sonde.tensor("labels", labels)
    sonde.tensor("predictions", (labels + 1) % 2 if FAULT == "swapped" and number > 20 else scores.detach())
    optimizer.step()
    sonde.scalar("loss", loss.item())
