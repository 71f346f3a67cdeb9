#!/usr/bin/env python3
"""What `with sonde.operation("x"):` costs a Python program, in units of an empty `with`, under a real recorder:

    build/dev/bin/sonde run -f -o /tmp/operation.sonde -- python3 bench/python_operation.py

Two things are an empty `with`: a context manager that is made in C and does next to nothing (a lock that nobody else
holds), and `contextlib.nullcontext()`, which is Python. Short batches of each alternate, each ratio is that of
neighbouring batches, and the median and quartiles of the ratios are printed, so that the machine's changing speed
cancels. Between rounds the program sleeps, which lets the recorder keep up. Run without a recorder it measures the cost
of annotations in a program that nobody profiles.
"""
import contextlib
import json
import statistics
import sys
import threading
import time
import timeit

import sonde

LOOPS, ROUNDS = 20_000, 61


def batches():
    names = {"operation": sonde.operation, "nullcontext": contextlib.nullcontext, "lock": threading.Lock()}
    statements = {
        "operation": "with operation('step'): pass",
        "nullcontext": "with nullcontext(): pass",
        "lock": "with lock: pass",
        "loop": "pass",
    }
    return {name: timeit.Timer(statement, globals=names) for name, statement in statements.items()}


def quartiles(values):
    low, middle, high = statistics.quantiles(values, n=4)
    return {"median": round(middle, 3), "low": round(low, 3), "high": round(high, 3)}


def main():
    timers = batches()
    spent = {name: [] for name in timers}
    for _ in range(ROUNDS):
        for name, timer in timers.items():
            spent[name].append(timer.timeit(LOOPS) / LOOPS * 1e9)
        time.sleep(0.02)
    net = {name: [value - loop for value, loop in zip(values, spent["loop"])]
           for name, values in spent.items() if name != "loop"}
    json.dump({
        "python": sys.version.split()[0],
        "ns": {name: quartiles(values) for name, values in net.items()},
        "ratio_to_nullcontext": quartiles([a / b for a, b in zip(net["operation"], net["nullcontext"])]),
        "ratio_to_lock": quartiles([a / b for a, b in zip(net["operation"], net["lock"])]),
    }, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
