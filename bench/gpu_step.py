"""A training step on a GPU, by turns with Sonde and without: [sonde run … --] python3 bench/gpu_step.py [BLOCKS]. A transformer of
four layers (512 wide, batches of 16 x 256), bfloat16, AdamW. Prints the median step of blocks of 12, and the least and the most."""
import statistics
import sys
import time

import torch
from torch import nn

STEPS = 12


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(8192, 512)
        layer = nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True, dropout=0.1)
        self.blocks = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.head = nn.Linear(512, 8192)

    def forward(self, words):
        return self.head(self.blocks(self.embed(words)))


def main():
    torch.manual_seed(0)
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    words = torch.randint(0, 8192, (16, 256), device="cuda")

    def step():
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(model(words).flatten(0, 1).float(), words.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    def block():
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(STEPS):
            step()
        torch.cuda.synchronize()
        return (time.perf_counter() - begin) / STEPS * 1e3

    for _ in range(20):
        step()
    found = [block() for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 12)]
    print(f"{statistics.median(found):.2f} ms a step ({min(found):.2f} to {max(found):.2f})")


if __name__ == "__main__":
    main()
