"""step() of optimisers: records one slice for the outermost call of a thread, closures included. A step of the first
optimiser seen ends an iteration. If that optimiser is gone, or has not stepped while others did ADOPT_AFTER times, the
next one replaces it.
"""
import functools
import weakref

from sonde import _sonde
from sonde._torch import tensors
from sonde._torch.guard import NOTHING, OPTIMIZER, compiling, enabled, in_graph, scope
from sonde._torch.masking import MASKING
from sonde._torch.training import TRAINING

ADOPT_AFTER = 64


class Primary:
    """The optimiser whose steps end iterations."""

    def __init__(self):
        self.optimizer = None
        self.steps = 0
        self.others = 0

    def is_the_same(self, optimizer):
        """Whether it is the same as at the previous step, and at all steps since."""
        return self.others == 0 and self.optimizer is not None and self.optimizer() is optimizer

    def is_it(self, optimizer):
        current = self.optimizer() if self.optimizer is not None else None
        if current is optimizer:
            self.others = 0
            return True
        self.others += 1
        if current is not None and self.others < ADOPT_AFTER:
            return False
        self.optimizer, self.others = weakref.ref(optimizer), 0
        return True


PRIMARY = Primary()


HERE = _sonde.here  # of the calling thread: whether it is `stepping`
NAMES = {}          # id of a class -> (weak reference, name of its step)


def name_of(optimizer):
    kind = type(optimizer)
    found = NAMES.get(id(kind))
    if found is None:
        gone = weakref.ref(kind, lambda _, key=id(kind): NAMES.pop(key, None))
        found = NAMES[id(kind)] = (gone, f"{kind.__name__}.step")
    return found[1]


class Step:
    def __init__(self, guard, optimizer):
        self.guard, self.optimizer = guard, optimizer
        TRAINING.step_begins()
        self.scope = scope(OPTIMIZER, name_of(optimizer))

    def __enter__(self):
        HERE.stepping = True
        self.scope.__enter__()

    def __exit__(self, kind, *exception):
        HERE.stepping = False
        self.scope.__exit__(None, None, None)
        if kind is None:
            self.guard.run(ended, self.optimizer)
        return False


def ended(optimizer):
    if PRIMARY.is_the_same(optimizer) and (TRAINING.step_passes() or TRAINING.passes()):
        PRIMARY.steps += 1
        return
    primary = PRIMARY.is_it(optimizer)
    PRIMARY.steps += primary
    TRAINING.step_ended(primary)


def ends_nothing():
    """Whether steps may be ignored: the probe is off, and the program marks its own iterations."""
    return MASKING.torch and TRAINING.overridden


def install(torch, guard):
    skip, compiles = in_graph(torch), compiling(torch)

    def scope_of(optimizer):
        if HERE.stepping:
            return NOTHING
        tensors.step(optimizer)
        return guard.run(Step, guard, optimizer) or NOTHING

    def masked(step, optimizer, args, kwargs):
        """Handles a step while the probe is off; it still ends the iteration."""
        if HERE.stepping:
            return step(optimizer, *args, **kwargs)
        HERE.stepping = True
        try:
            result = step(optimizer, *args, **kwargs)
        finally:
            HERE.stepping = False
        guard.run(ended, optimizer)
        return result

    def looked_at(step, optimizer, args, kwargs):
        """Handles a step that may change the known state of the training, or that is inside another one."""
        if skip():
            return step(optimizer, *args, **kwargs)
        if ends_nothing():
            TRAINING.samples = TRAINING.tokens = 0  # its loaded samples are not needed
            return step(optimizer, *args, **kwargs)
        if not enabled():
            return masked(step, optimizer, args, kwargs) if MASKING.torch else step(optimizer, *args, **kwargs)
        with scope_of(optimizer):
            return step(optimizer, *args, **kwargs)

    inside, leave = _sonde.inside_step, _sonde.leave

    def wrap(step):
        @functools.wraps(step)
        def stepped(self, *args, **kwargs):
            if (compiles is not None and compiles()) or not guard.on:
                return step(self, *args, **kwargs)
            entered = inside(name_of(self)) if tensors.TENSORS is tensors.OFF else None
            if entered is None:
                return looked_at(step, self, args, kwargs)
            try:
                result = step(self, *args, **kwargs) if args or kwargs else step(self)
            finally:
                leave(entered)
            guard.run(ended, self)
            return result

        stepped.wrapped_by_sonde = True
        return stepped

    def instrument(optimizer):
        kind = type(optimizer)
        if not getattr(kind.step, "wrapped_by_sonde", False):
            kind.step = wrap(kind.step)

    # torch itself wraps the class's step in this method, which a constructor and an unpickled object call.
    Optimizer = torch.optim.Optimizer
    name = "_patch_step_function" if hasattr(Optimizer, "_patch_step_function") else "_hook_for_profile"
    patch = getattr(Optimizer, name)

    @functools.wraps(patch)
    def patched(self):
        result = patch(self)
        guard.run(instrument, self)
        return result

    setattr(Optimizer, name, patched)
    install_scaler(torch, guard)


def install_scaler(torch, guard):
    """GradScaler.step skips the optimiser if gradients overflowed; the iteration still ends."""
    amp = getattr(getattr(torch, "amp", None), "GradScaler", None) or torch.cuda.amp.GradScaler
    step = amp.step

    def skipped(optimizer, before):
        if (PRIMARY.steps == before and not ends_nothing() and PRIMARY.optimizer is not None
                and PRIMARY.optimizer() is optimizer):
            tensors.step(optimizer)
            TRAINING.step_ended(True)

    @functools.wraps(step)
    def stepped(self, optimizer, *args, **kwargs):
        before = PRIMARY.steps
        result = step(self, optimizer, *args, **kwargs)
        guard.run(skipped, optimizer, before)
        return result

    amp.step = stepped
