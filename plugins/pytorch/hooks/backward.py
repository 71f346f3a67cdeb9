"""backward(): records one slice for the outermost call of a thread, which blocks meanwhile, and the loss as a scalar.

It wraps the autograd engine's run_backward, which Tensor.backward and torch.autograd.backward share. torch.jit
recognises these two by identity, so replacing them would break scripts that use them.
"""
from sonde import _sonde
from sonde._torch import compiled, losses
from sonde._torch import tensors as observed
from sonde._torch.guard import BACKWARD, NOTHING, compiling, enabled, in_graph, scope
from sonde._torch.masking import MASKING
from sonde._torch.modules import HERE
from sonde._torch.training import TRAINING


class Backward:
    def __init__(self, guard):
        self.guard = guard
        TRAINING.backward()
        self.scope = scope(BACKWARD, "backward")

    def __enter__(self):
        HERE.backward += 1
        self.scope.__enter__()
        return self

    def __exit__(self, *exception):
        HERE.backward -= 1
        self.scope.__exit__(None, None, None)
        self.guard.run(TRAINING.backward_ended)
        return False


def install(torch, guard):
    engine = torch.autograd.Variable._execution_engine
    skip, compiles, reader = in_graph(torch), compiling(torch), losses.install(torch)

    def scope_of(accumulates):
        try:
            if HERE.backward or not accumulates:  # inside another one, or torch.autograd.grad
                return NOTHING
            return Backward(guard)
        except Exception as error:
            guard.fail(error)
            return NOTHING

    def looked_at(tensors, args, kwargs):
        """A backward that changes the known state of the training, or that is not recorded."""
        if skip() or not enabled():
            return engine.run_backward(tensors, *args, **kwargs)
        with scope_of(kwargs.get("accumulate_grad", True)) as outermost:
            if outermost is not NOTHING:
                read(tensors)
                observed.loss(tensors)
            return engine.run_backward(tensors, *args, **kwargs)

    inside, leave = _sonde.inside_backward, _sonde.leave
    read = reader.read  # inside: before a backward begins, a value may be from the previous iteration

    class Engine(type(engine)):
        def run_backward(self, tensors, *args, **kwargs):
            if (compiles is not None and compiles()) or not guard.on:
                return engine.run_backward(tensors, *args, **kwargs)
            entered = inside() if kwargs.get("accumulate_grad", True) else None
            if entered is None:
                return looked_at(tensors, args, kwargs)
            try:
                read(tensors)
                if observed.TENSORS is not observed.OFF:
                    observed.loss(tensors)
                return engine.run_backward(tensors, *args, **kwargs)
            finally:
                leave(entered)

    Variable, watched = torch.autograd.Variable, Engine()

    def take_out():
        if Variable._execution_engine is watched and not compiled.USED:
            Variable._execution_engine = engine

    def put_back():
        if Variable._execution_engine is engine:
            Variable._execution_engine = watched

    Variable._execution_engine = watched
    MASKING.add(take_out, put_back)
