"""Tells Sonde of tensors of all types and forms, and writes what NumPy knows of them as JSON to the file that is named."""
import json
import math
import sys

import numpy as np
import sonde
import torch

torch.manual_seed(5)
TYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16,
         torch.float32, torch.float64]


def bare(tensor):
    """As NumPy's, in double precision."""
    return np.array(tensor.to(torch.float64).numpy())


def truth(tensor):
    values = bare(tensor)
    finite = values[np.isfinite(values)]
    told = {"elements": values.size, "zeros": int((values == 0).sum()), "nans": int(np.isnan(values).sum()),
            "infs": int(np.isinf(values).sum()), "l1": float(np.linalg.norm(finite, 1)), "l2": float(np.linalg.norm(finite)),
            "shape": str(list(tensor.shape)), "dtype": str(tensor.dtype).partition(".")[2]}
    if finite.size:
        ordered = np.sort(finite.ravel())
        told |= {"minimum": float(finite.min()), "maximum": float(finite.max()), "mean": float(finite.mean()),
                 "variance": float(finite.var()), "p05": float(ordered[int(0.05 * (finite.size - 1))]),
                 "p50": float(ordered[int(0.5 * (finite.size - 1))]), "p99": float(ordered[int(0.99 * (finite.size - 1))])}
    return told


def tensors():
    for dtype in TYPES:
        name = str(dtype).partition(".")[2]
        plain = torch.randn(20_011, dtype=torch.float64) * 30 + 4
        plain = plain > 5 if dtype is torch.bool else plain.abs().to(dtype) if dtype is torch.uint8 else plain.to(dtype)
        yield f"{name} random", plain
        yield f"{name} transposed", plain[:20_000].view(100, 5, 40).permute(2, 0, 1)
        yield f"{name} with a step", plain[3::7]
        yield f"{name} expanded", plain[:5].view(5, 1).expand(5, 300)
        yield f"{name} empty", plain[:0].view(0, 3)
        yield f"{name} without dimensions", plain[7]
        if not dtype.is_floating_point:
            continue
        smallest = {torch.float64: 5e-324, torch.float32: 1e-45, torch.bfloat16: 1e-40, torch.float16: 6e-8}[dtype]
        yield f"{name} denormal", torch.tensor([smallest, -smallest, 0, 3 * smallest, 1 if dtype is torch.float16 else 0.0],
                                               dtype=torch.float64).to(dtype)
        holes = plain[:5000].clone()
        holes[::3], holes[1::50], holes[2::70], holes[7] = math.nan, math.inf, -math.inf, -0.0
        yield f"{name} with holes", holes
        yield f"{name} of NaNs", torch.full((3,), math.nan, dtype=dtype)


def main():
    told = {}
    torch.set_flush_denormal(len(sys.argv) > 2)
    with sonde.iteration(17):
        for name, tensor in tensors():
            sonde.tensor(name, tensor)
            told[name] = tensor
        sonde.tensor("of NumPy", np.arange(12.0).reshape(3, 4)[:, ::2])
    torch.set_flush_denormal(False)
    with open(sys.argv[1], "w") as file:
        json.dump({name: truth(tensor) for name, tensor in told.items()}, file)


if __name__ == "__main__":
    main()
