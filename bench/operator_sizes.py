"""Operators of many sizes on one processor, for `sonde run --torch-operators shapes` and `sonde microbench --fit`."""
import sonde
import torch

torch.manual_seed(0)
torch.set_num_threads(1)
for _ in range(6):
    with sonde.iteration():
        for batch in (8, 32, 128, 512):
            for width in (64, 192, 512, 1024):
                inputs = torch.randn(batch, width, requires_grad=True)
                weight = torch.randn(width, 2 * width, requires_grad=True)
                bias = torch.randn(2 * width, requires_grad=True)
                active = torch.nn.functional.gelu(torch.addmm(bias, inputs, weight))
                normal = torch.nn.functional.layer_norm(active, (2 * width,))
                (normal * normal).sum().backward()
