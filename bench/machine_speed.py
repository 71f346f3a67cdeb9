"""What a job would have taken at the speed that the machine had while another one ran.

A virtual machine's processor is often a thread of a core whose other thread someone else uses: programs then take up to twice as
long, from one moment to the next, and runs in turns differ by tens of per cent. bench/processor_speed watches how long the same
arithmetic takes on each processor, first of all that runs there; here the rate of iterations of runs in all kinds of moments is fitted as

    iterations / ns = a - b (1 - speed of the processor the job is on) - c (1 - speed of the others)

in windows of 50 ms (a speed of 1 is what one in a hundred windows has), which gives the length of an iteration in the windows of other runs.

Where the machine's own processors are threads of one core, what else the job or its recorder does on the other one slows a processor
down as well, and counts as the machine's."""
import os
import subprocess
import tempfile

import numpy

WINDOW_NS = 50_000_000
REACH_NS = 5_000_000  # the period of bench/processor_speed
RIDGE = 1e-4  # of the variance of speeds, which is some 0.04 on a busy machine: where all are alike nothing is found out of noise


class Watch:
    """Runs processor_speed while it is entered; then has when each sample was taken, on which processor, and how long it took."""

    def __init__(self, build):
        self.program, self.samples = f"{build}/bench/processor_speed", None

    def __enter__(self):
        self.file = tempfile.NamedTemporaryFile()
        self.process = subprocess.Popen([self.program, self.file.name])
        return self

    def __exit__(self, *_):
        self.process.terminate()
        status = self.process.wait()
        if status != 0:
            raise RuntimeError(f"{self.program} ended with status {status}")
        self.samples = numpy.fromfile(self.file.name, dtype=numpy.int64)
        self.samples = self.samples[:len(self.samples) // 3 * 3].reshape(-1, 3)
        self.file.close()


def read_stamps(path):
    """What bench/iteration_stamps.h writes: begin, end and processor of each iteration."""
    return numpy.fromfile(path, dtype=numpy.int64).reshape(-1, 3)


def windows(stamps, samples):
    """[iterations, ns, 1/ns of the samples on the job's own processor, … on the others] of each window in which any began."""
    processors = sorted(set(samples[:, 1]))
    of = {one: samples[samples[:, 1] == one] for one in processors}
    found = []
    numbers = stamps[:, 0] // WINDOW_NS
    for rows in numpy.split(stamps, numpy.flatnonzero(numpy.diff(numbers)) + 1):
        begin, end = rows[0, 0] - REACH_NS, rows[-1, 1] + REACH_NS
        rates = {}
        for one in processors:
            first, last = numpy.searchsorted(of[one][:, 0], (begin, end))
            if last > first:
                rates[one] = float(numpy.mean(1 / of[one][first:last, 2]))
        if len(rates) < len(processors):
            continue  # before the first sample, or after the last
        own = float(numpy.mean([rates[one] for one in rows[:, 2]]))
        others = own if len(rates) == 1 else (sum(rates.values()) - own) / (len(rates) - 1)
        found.append([len(rows), int(numpy.sum(rows[:, 1] - rows[:, 0])), own, others])
    return found


def fastest(runs):
    """1/ns of a sample at the full speed of the machine: what one in a hundred windows has."""
    return float(numpy.quantile([window[2:] for run in runs for window in run], 0.99))


def mean_ns(run):
    """Of an iteration in the windows of a run."""
    return sum(window[1] for window in run) / sum(window[0] for window in run)


def speed(run, full):
    """Of the processor that the job was on, on the mean of the time."""
    return sum(window[1] * window[2] / full for window in run) / sum(window[1] for window in run)


class Model:
    """Of a job, by the windows of its runs."""

    def __init__(self, runs, full):
        self.full = full
        rows = numpy.array([window for run in runs for window in run], dtype=float)
        rate, weight = rows[:, 0] / rows[:, 1], rows[:, 1] / rows[:, 1].sum()
        self.scale = numpy.average(rate, weights=weight)
        slow = self.slowness(rows)
        mean = numpy.average(slow, axis=0, weights=weight)
        centred = slow - mean
        square = (centred * weight[:, None]).T @ centred + RIDGE * numpy.eye(2)
        self.slopes = numpy.linalg.solve(square, (centred * weight[:, None]).T @ (rate / self.scale - 1))
        self.at, self.slowest = mean, slow.max(axis=0)

    def slowness(self, rows):
        return 1 - rows[:, 2:] / self.full

    def iteration_ns(self, run):
        """The mean iteration had the job run in the windows of `run`, by the iterations that those have."""
        rows = numpy.array(run, dtype=float)
        slow = numpy.minimum(self.slowness(rows), self.slowest)  # no further than was seen
        rate = self.scale * (1 + (slow - self.at) @ self.slopes)
        return float(numpy.average(1 / rate, weights=rows[:, 0]))
