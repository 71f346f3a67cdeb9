#!/usr/bin/env python3
"""Writes a torch.profiler trace of a made-up training job, as large as asked, in the layout of Kineto's own files.

    bench/make_kineto.py --bytes 1e9 kineto.json

Each step has 200 operators of the host, each with a nested one, a launch, its kernel and the arrow between them, and a
copy in every tenth: 320 bytes an event, as in files of real jobs. The same text for the same size.
"""
import argparse

HEAD = """{
  "schemaVersion": 1,
  "deviceProperties": [
    {"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320, "computeMajor": 9, "computeMinor": 0, "numSms": 132}
  ],
  "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1},
  "baseTimeNanoseconds": 1700000000000000000,
  "traceEvents": [
"""
STEP = """  {
    "ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%(step)d", "pid": 4242, "tid": 4242,
    "ts": %(us)d.000, "dur": 9990.500,
    "args": {
      "External id": %(id)d, "Record function id": 0, "Ev Idx": %(id)d
    }
  },
"""
OPERATOR = """  {
    "ph": "X", "cat": "cpu_op", "name": "aten::%(outer)s", "pid": 4242, "tid": 4242,
    "ts": %(us)d.%(ns)03d, "dur": 41.250,
    "args": {
      "External id": %(id)d,"Record function id": 0, "Input Strides": [[256, 1], [1, 256]], "Input type": ["float", "float"], "Input Dims": [[64, 256], [256, 256]], "Ev Idx": %(id)d
    }
  },
  {
    "ph": "X", "cat": "cpu_op", "name": "aten::%(inner)s", "pid": 4242, "tid": 4242,
    "ts": %(us)d.%(ns)03d, "dur": 38.125,
    "args": {
      "External id": %(id)d,"Record function id": 0, "Input Strides": [[256, 1], [1, 256]], "Input type": ["float", "float"], "Input Dims": [[64, 256], [256, 256]], "Ev Idx": %(id)d
    }
  },
  {
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 4242, "tid": 4242,
    "ts": %(launch)d.%(ns)03d, "dur": 6.375,
    "args": {
      "External id": %(id)d, "cbid": 211, "correlation": %(id)d
    }
  },
  {
    "ph": "s", "id": %(id)d, "pid": 4242, "tid": 4242, "ts": %(launch)d.%(ns)03d,
    "cat": "ac2g", "name": "ac2g"
  },
  {
    "ph": "X", "cat": "kernel", "name": "void at::native::vectorized_elementwise_kernel<4, at::native::%(inner)s_functor<float>, at::detail::Array<char*, 2>>", "pid": 0, "tid": 7,
    "ts": %(kernel)d.%(ns)03d, "dur": 30.016,
    "args": {
      "External id": %(id)d, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": %(id)d, "registers per thread": 32, "shared memory": 0, "blocks per SM": 0.5, "warps per SM": 2.0, "grid": [64, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %%": 3
    }
  },
  {
    "ph": "f", "id": %(id)d, "pid": 0, "tid": 7, "ts": %(kernel)d.%(ns)03d,
    "cat": "ac2g", "name": "ac2g", "bp": "e"
  },
"""
COPY = """  {
    "ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 20,
    "ts": %(kernel)d.%(ns)03d, "dur": 12.032,
    "args": {
      "External id": %(id)d, "device": 0, "context": 1, "stream": 20, "correlation": %(copy)d, "bytes": 1048576, "memory bandwidth (GB/s)": 87.14894616
    }
  },
"""
TAIL = """  {
    "ph": "M", "name": "process_name", "ts": 0, "pid": 4242, "tid": 0, "args": {"name": "python"}
  }
  ]
}
"""
NAMES = ["linear", "addmm", "relu", "layer_norm", "softmax", "matmul", "add", "mul", "copy_", "gelu"]
OPERATORS = 200


def write(out, size):
    """Writes at least `size` bytes to the text file `out`; returns the number of events."""
    written, events, step, identity = out.write(HEAD), 1, 0, 1
    while written < size:
        begin = 1_000_000 + step * 10_000
        parts = [STEP % {"step": step, "us": begin, "id": identity}]
        events += 1
        for at in range(OPERATORS):
            identity += 1
            us = begin + 1 + at * 49
            values = {"outer": NAMES[at % 10], "inner": NAMES[(at + step) % 10], "us": us, "ns": identity % 1000,
                      "id": identity, "launch": us + 20, "kernel": us + 300, "copy": identity + 1_000_000_000}
            parts.append(OPERATOR % values)
            events += 6
            if at % 10 == 0:
                parts.append(COPY % values)
                events += 1
        written += out.write("".join(parts))
        step += 1
    out.write(TAIL)
    return events


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=float, default=1e9)
    parser.add_argument("output")
    arguments = parser.parse_args()
    with open(arguments.output, "w", encoding="ascii") as out:
        print(f"{write(out, arguments.bytes):,} events")


main()
