"""Annotations for Sonde, the profiler for training runs.

    import sonde

    with sonde.operation("rollout"):
        ...

    @sonde.operation("update")
    def update(batch): ...

Under `sonde run` they become slices of the timeline and rows of every report. Anywhere else they do nothing, at the
cost of an empty `with`. Recording never raises an exception. Any thread may use them; exceptions of the program pass.
"""
try:
    from sonde._sonde import (evaluation, iteration, iteration_info, mark, metadata, operation, phase, scalar)
except ImportError:  # no extension for this interpreter: PyPy, a free-threaded build, another platform
    from sonde._absent import (evaluation, iteration, iteration_info, mark, metadata, operation, phase, scalar)

from sonde._tensor import tensor

__all__ = ["evaluation", "iteration", "iteration_info", "mark", "metadata", "operation", "phase", "scalar", "tensor"]
__version__ = "0.1.0"
