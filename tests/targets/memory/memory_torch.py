"""Tensors of known sizes, each made in one operation and given back in another (tests/e2e/torch/memory_torch_test.py).

Prints "OPERATION ADDRESS BYTES" for each.
"""
import sonde
import torch

torch.set_num_threads(1)


def made(operation, *tensors):
    for tensor in tensors:
        print(operation, tensor.data_ptr(), tensor.numel() * tensor.element_size())
    return tensors


def tensor(count):
    return torch.empty(count, dtype=torch.uint8)


def main():
    with sonde.operation("make"):
        large, small = tensor(1_000_003), tensor(77)
    made("make", large, small)
    with sonde.operation("drop"):
        del large, small
    with sonde.operation("keep"):
        kept = tensor(3001)
    made("keep", kept)
    with sonde.operation("pile"):
        pile = [tensor(200_000 + at) for at in range(20)]
    made("pile", *pile)
    with sonde.operation("clear"):
        pile.clear()
    weight = torch.ones(50_000, requires_grad=True)
    with sonde.operation("gradient"):
        (weight * weight).sum().backward()
    made("gradient", weight.grad)
    try:
        with sonde.operation("too much"):
            torch.empty(1 << 46, dtype=torch.uint8)
    except RuntimeError:
        print("refused 0 0")
    with sonde.operation("after"):
        after = tensor(1_000_003)
    made("after", after)


if __name__ == "__main__":
    main()
