"""Trains from a DataLoader, of which the worker is killed at the third batch, in a way that PyTorch does not notice: its
watch of the worker's end is off, and the batch is waited for without a limit."""
import os
import signal
import time

import torch
import torch.utils.data.dataloader as dataloader

torch.set_num_threads(1)
dataloader._MultiProcessingDataLoaderIter._try_get_data.__defaults__ = (600,)
dataloader._utils.signal_handling._set_SIGCHLD_handler = lambda: None


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        if index >= 8:
            time.sleep(2)  # until the batches before have been taken over
            os.kill(os.getpid(), signal.SIGKILL)
        return torch.full((8,), float(index))


model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
for batch in torch.utils.data.DataLoader(Numbers(), batch_size=4, num_workers=1, prefetch_factor=2):
    optimizer.zero_grad()
    model(batch).sum().backward()
    optimizer.step()
