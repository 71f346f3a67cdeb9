"""Measures hardware counters of an operation whose kernel takes a second of the simulated device's time, while another
thread of the program counts. Prints how far it counted. Usage: cuda_waiting.py CUDA_MAJOR [LIBRARY]: with LIBRARY the
operation is a range of NVTX, which an extension in C pushes and pops without giving up Python's lock."""
import contextlib
import ctypes
import sys
import threading
import time

import sonde


class Extent(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32)]


runtime = ctypes.CDLL(f"libcudart.so.{sys.argv[1]}")
simulator = ctypes.CDLL("libcuda.so.sim")
simulator.cudasimKernel.restype = ctypes.c_void_p
simulator.cudasimKernel.argtypes = [ctypes.c_char_p, ctypes.c_uint64]
runtime.cudaLaunchKernel.argtypes = [ctypes.c_void_p, Extent, Extent, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
kernel = simulator.cudasimKernel(b"slow", 1_000_000_000)
runtime.cudaDeviceSynchronize()



@contextlib.contextmanager
def pushed(library):
    library.pluginPush(b"work")
    yield
    library.pluginPop()


def work():
    return pushed(ctypes.PyDLL(sys.argv[2])) if len(sys.argv) > 2 else sonde.operation("work")


count = 0
done = threading.Event()


def tick():
    global count
    while not done.is_set():
        count += 1
        time.sleep(0.01)


threading.Thread(target=tick, daemon=True).start()
with sonde.iteration(0):
    with work():
        runtime.cudaLaunchKernel(kernel, Extent(1, 1, 1), Extent(32, 1, 1), None, 0, None)
        before = count
    during = count - before
done.set()
print(during)
