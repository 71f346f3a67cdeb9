"""Prints the duration of an annotation, as a line `probe|api|ns`. The recorder runs this program in the job's
interpreter, with and without its library: the difference is the cost of recording. Between two annotations there is
work, as in a program."""
import time

import sonde

try:
    import resource
except ImportError:  # a Python built without it
    resource = None

BATCHES = 24
CALLS = 100
GROWTH_BATCHES = 260  # enough to fill the 1 MiB by which the spool grows
GROWTH_FAULTS = 32


def work(data):
    total = 0
    for one in data:
        total += one
    return total


def alone(data):
    for _ in range(CALLS):
        work(data)


def annotated(data):
    operation = sonde.operation
    for _ in range(CALLS):
        with operation("cost"):
            work(data)


def spent(function, data):
    begin = time.perf_counter_ns()
    function(data)
    return (time.perf_counter_ns() - begin) / CALLS


def faults():
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt


def growth():
    """The share of the spool's growth in the cost of an annotation, as in recorder/calibrate/cost_program.cpp."""
    if resource is None:
        return 0
    usual, growing = [], []
    for _ in range(GROWTH_BATCHES):
        before = faults()
        ns = spent(annotated, ())
        (usual if faults() - before < GROWTH_FAULTS else growing).append(ns)
    if not usual:
        return 0
    middle = sorted(usual)[len(usual) // 2]
    return sum(ns - middle for ns in growing) / GROWTH_BATCHES


def main():
    data = list(range(60))
    with sonde.iteration():
        both = [(spent(alone, data), spent(annotated, data)) for _ in range(BATCHES)]
        more = growth()
    without, with_it = (sorted(times)[BATCHES // 4] for times in zip(*both))
    print(f"annotation|scope in Python|{with_it - without + more:.3f}")


if __name__ == "__main__":
    main()
