"""Keeps Sonde's errors away from the user, and the user's code out of Sonde's reads."""
import contextlib

from sonde import _sonde, metadata

MODULE, FORWARD, BACKWARD, OPTIMIZER, DATA_LOAD, CHECKPOINT, EVALUATION = 11, 5, 6, 7, 8, 9, 10
ITERATION, MICRO_STEP, API = 3, 4, 13


class Guard:
    """The switch of a hook. The first internal error switches it off for good, and is noted once in the trace."""

    def __init__(self, name):
        self.name = name
        self.on = True
        self.failed = lambda: None  # undoes the hooks then

    def fail(self, error):
        if not self.on:
            return
        self.on = False
        try:
            self.failed()
            trace = error.__traceback__
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            where = f" at {trace.tb_frame.f_code.co_name}, line {trace.tb_lineno}" if trace else ""
            metadata(f"sonde.torch.{self.name}", f"switched off: {type(error).__name__}: {error}{where}")
        except Exception:
            pass

    def run(self, function, *arguments):
        """`function(*arguments)`, or None after an error."""
        if not self.on:
            return None
        try:
            return function(*arguments)
        except Exception as error:
            self.fail(error)
            return None


class Nothing:
    """A scope that records nothing."""

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False


NOTHING = Nothing()
scope = _sonde.torch_scope
enabled = _sonde.torch_enabled


def past_overrides(torch):
    """A context manager in which reads of a tensor bypass __torch_function__ of the program's classes and modes."""
    disabled = torch._C.DisableTorchFunction
    without_mode = getattr(torch.overrides, "_no_torch_function_mode", None)
    if without_mode is None:
        return disabled

    @contextlib.contextmanager
    def both():  # 1.13 calls a mode anyway
        with without_mode(), disabled():
            yield

    return both


def compiling(torch):
    """A function whose result torch.compile folds into True in code that it compiles; None: this version has no such
    function. Wrappers call it first, so that no code of Sonde is compiled."""
    return getattr(getattr(torch, "compiler", None), "is_compiling", None)


def in_graph(torch):
    """A function whose result is true inside torch.compile, export and jit.trace, where a scope would be compiled into
    the graph or break it. Outermost modules, backward passes and steps call it. If tracing happens inside a recorded
    one, its modules are recorded too."""
    asked, tracing = compiling(torch), torch._C._get_tracing_state
    if asked is None:
        return tracing
    return lambda: asked() or tracing() is not None
