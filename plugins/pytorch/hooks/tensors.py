"""Statistics of tensors, with `--sources +tensor`. Weights and gradients are read when the primary optimiser begins its
step. Inputs of the model and outputs of its modules are read in the training forward, losses at backward().

tensor_plan.py decides which tensors and when; tensor_reader.py reads them. Records belong to the iterations of the
torch probe.
"""
import atexit
import os

from sonde import metadata
from sonde._torch.guard import Guard
from sonde._torch.tensor_names import TensorNames
from sonde._torch.tensor_plan import GRADIENT, INPUT, LOSS, OTHER, OUTPUT, WEIGHT, Plan
from sonde._torch.tensor_reader import Label, TensorReader, load_library
from sonde._torch.training import TRAINING

MAX_PARTS = 64  # parts of an argument or a result that are examined


def told(collection, text):
    metadata(f"sonde.tensor.{collection}", text)


def parts(torch, value, path="", depth=0):
    """(path, tensor) of a tensor, or of the tensors in tuples, lists and dictionaries."""
    kind = type(value)
    if issubclass(kind, torch.Tensor):
        yield path, value
    elif depth < 4 and issubclass(kind, (tuple, list)):
        for at, one in enumerate(tuple(value)[:MAX_PARTS]):
            yield from parts(torch, one, f"{path}.{at}", depth + 1)
    elif depth < 4 and issubclass(kind, dict):
        for key in list(dict.keys(value))[:MAX_PARTS]:
            yield from parts(torch, dict.__getitem__(value, key), f"{path}.{key}", depth + 1)


class Tensors:
    def __init__(self, torch, plan, reader):
        self.torch, self.plan, self.reader = torch, plan, reader
        self.names = TensorNames()
        self.finds_nan = None  # hooks/first_nan.py, if requested
        self.loss_classes = (torch.nn.modules.loss._Loss,)

    def due(self):
        """The collections that are due now; None: the probe does not record."""
        if not self.reader.native.sonde_tensors_enabled():
            return None
        self.reader.collect()
        return self.plan.at(TRAINING.current())

    def _take(self, due, of, role, name, tensor):
        wanted = [one for one in due if one.selects(of, name)]
        if wanted:
            self.reader.read(tensor, Label(name, role, wanted))

    # -- what the other hooks tell -----------------------------------------------------------------------------------

    def called(self, due, names, module, is_outermost, args, kwargs, result):
        """Called after a module's call in a training forward; `names`: those of the outermost module's modules."""
        root, name = names.root(), names.of(module)
        if isinstance(module, self.loss_classes):
            self._take_parts(due, "losses", LOSS, name, result)
            return
        name = self.names.prefix(root) + name
        if is_outermost:
            self._take_parts(due, "inputs", INPUT, name, args)
            self._take_parts(due, "inputs", INPUT, name, kwargs)
            self._take_parts(due, "outputs", OUTPUT, name, result)
        else:
            self._take_parts(due, "activations", OUTPUT, name, result)

    def _take_parts(self, due, of, role, name, value):
        if any(of in one.of for one in due):
            for path, tensor in parts(self.torch, value):
                self._take(due, of, role, name + path, tensor)

    def loss(self, tensors):
        """Called with the tensors of a backward()."""
        due = self.due()
        if due and type(tensors) is tuple:
            self._take_parts(due, "losses", LOSS, "loss", tensors[0] if len(tensors) == 1 else tensors)

    def step(self, optimizer):
        """Called before an optimiser uses the gradients."""
        if self.finds_nan is not None:
            self.finds_nan.leave_when_done(self.torch)
        due = self.due()
        if not due:
            return
        # A fused optimizer gets gradients as scaled by the GradScaler, and divides them itself.
        is_scaled = getattr(optimizer, "grad_scale", None) is not None
        for number, group in enumerate(optimizer.param_groups):
            for at, parameter in enumerate(group["params"]):
                name = self.names.of_parameter(parameter, f"{type(optimizer).__name__}.{number}.{at}")
                self._take(due, "weights", WEIGHT, name, parameter)
                if any("gradients" in one.of for one in due):
                    with self.reader.past_overrides():
                        gradient = parameter.grad
                    if gradient is not None and is_scaled:
                        self.reader.lose(name, "gradients of a fused optimiser are scaled by the GradScaler")
                    elif gradient is not None:
                        self._take(due, "gradients", GRADIENT, name, gradient)

    def given(self, name, value):
        """Called by sonde.tensor()."""
        if self.due() is None:
            return
        with self.reader.past_overrides():
            try:
                tensor = value if isinstance(value, self.torch.Tensor) else self.torch.as_tensor(value)
            except (TypeError, ValueError, RuntimeError) as error:
                self.reader.lose(name, str(error).partition("\n")[0])
                return
        self.reader.read(tensor, Label(name, OTHER, self.plan.given))

    def finish(self):
        self.reader.finish()
        for collection in self.plan.missed():
            told(collection.name, "it has no tensors: see of, include and exclude")
            self.reader.native.sonde_tensors_lost(1)


class Off:
    """The plan requests nothing."""

    @staticmethod
    def due():
        return ()

    loss = step = called = given = staticmethod(lambda *_: None)


GUARD = Guard("tensors")
TENSORS = OFF = Off()


def install(torch, guard):
    global TENSORS, GUARD
    folder = os.environ.get("SONDE_TENSOR_FOLDER", "")
    if not folder:
        return
    GUARD = guard
    library = load_library()
    plan = Plan(os.environ.get("SONDE_TENSORS", ""), told)
    if plan.unusable:
        library.sonde_tensors_lost(plan.unusable)
    reader = TensorReader(torch, library, folder, plan.save_limit)
    TENSORS = Tensors(torch, plan, reader)
    atexit.register(lambda: guard.run(TENSORS.finish))
    if plan.finds_first_nan:
        from sonde._torch import first_nan
        first_nan.install(torch, reader)
        TENSORS.finds_nan = first_nan


def are_looked_at():
    return TENSORS is not OFF


def due():
    """The collections that are due, for called()."""
    return () if TENSORS is OFF else GUARD.run(TENSORS.due) or ()


def called(*arguments):
    GUARD.run(TENSORS.called, *arguments)


def given(name, value):
    GUARD.run(TENSORS.given, name, value)


def loss(tensors):
    if TENSORS is not OFF:
        GUARD.run(TENSORS.loss, tensors)


def step(optimizer):
    if TENSORS is not OFF:
        GUARD.run(TENSORS.step, optimizer)
