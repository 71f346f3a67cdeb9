"""The part of the probe `tensor` that is for devices, on the processor: the same statistics as in memory, for all types and forms
of tensors.py; and results that come late, and to several threads. Prints what differs."""
import ctypes
import math
import pathlib
import sys
import threading
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import tensors  # noqa: E402
from sonde._torch import device_reduction, tensor_reader  # noqa: E402

BUCKETS = 1 << 16


def described(library):
    values, buckets = (ctypes.c_double * 10)(), (ctypes.c_uint64 * BUCKETS)()
    count = library.sonde_tensors_described(values, buckets, BUCKETS)
    return list(values), list(buckets[:count])


def same(here, there):
    finite = here[0] - here[2] - here[3]
    return all(one == other or math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-300) or (at in (6, 7) and not finite)
               for at, (one, other) in enumerate(zip(here, there)))


def compare(reader):
    count = 0
    for name, tensor in tensors.tensors():
        reader.native.sonde_tensors_describe(*reader._memory(tensor).layout)
        here = described(reader.native)
        reduction = device_reduction.Reduction(torch, tensor)
        reader.native.sonde_tensors_take(reduction.values.data_ptr(), reduction.counts.data_ptr(), reduction.first,
                                          reduction.counts.numel() // 2)
        there = described(reader.native)
        if not (same(here[0], there[0]) and here[1] == there[1]):
            print("differs:", name, here[0], there[0], len(here[1]), len(there[1]))
        count += 1
    return count


class Late:
    def __init__(self, arrived):
        self.arrived = arrived

    def has_arrived(self):
        time.sleep(0.05)  # another thread has its turn
        return self.arrived


def collect_together(reader):
    """Two threads look while one of two results has arrived."""
    taken = []
    reader.take = lambda reduction, label, when: taken.append(reduction)
    reader.pending = [(Late(True), None, 0), (Late(False), None, 0)]
    threads = [threading.Thread(target=reader.collect) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [one.arrived for one in taken], len(reader.pending)


reader = tensor_reader.TensorReader(torch, tensor_reader.load_library(), "", 0)
reader.captures.here = lambda: False  # there is no CUDA to ask
device_reduction.PIECE = 3000  # so that tensors are of several
print(compare(reader) > 70, collect_together(reader))
