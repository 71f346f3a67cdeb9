"""Trains a small model with PyTorch on the CPU, each of whose layers also launches a kernel on the simulated device.
Usage: cuda_torch.py MAJOR ITERATIONS"""
import ctypes
import sys

import sonde
import torch


class Extent(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32)]


runtime = ctypes.CDLL(f"libcudart.so.{sys.argv[1]}")
simulator = ctypes.CDLL("libcuda.so.sim")
simulator.cudasimKernel.restype = ctypes.c_void_p
simulator.cudasimKernel.argtypes = [ctypes.c_char_p, ctypes.c_uint64]
runtime.cudaLaunchKernel.argtypes = [ctypes.c_void_p, Extent, Extent, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]


def launch(name, blocks):
    kernel = simulator.cudasimKernel(name.encode(), 20_000 * blocks)
    runtime.cudaLaunchKernel(kernel, Extent(blocks, 1, 1), Extent(64, 1, 1), None, 0, None)


class Layer(torch.nn.Linear):
    def forward(self, value):
        with sonde.operation("product"):
            launch("gemm", self.in_features)
        return super().forward(value)


model = torch.nn.Sequential(Layer(4, 8), torch.nn.ReLU(), Layer(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
runtime.cudaDeviceSynchronize()
for _ in range(int(sys.argv[2])):
    optimizer.zero_grad()
    loss = model(torch.ones(2, 4)).sum()
    loss.backward()
    launch("update", 3)
    optimizer.step()
runtime.cudaDeviceSynchronize()
