"""Calls of nn.Module: records a `module` slice for each, named by its path from the outermost module. Around the
outermost call of a thread it records `forward` if gradients are on, or `evaluation` if the module is in eval mode and
gradients are off. For a trained model, an evaluation is one slice, data loading included: from eval() (or the first
such call) to train() (or the next training forward).
"""
import functools
import weakref

from sonde import _sonde
from sonde._torch import compiled, tensors
from sonde._torch.guard import EVALUATION, FORWARD, MODULE, NOTHING, compiling, enabled, in_graph, scope
from sonde._torch.masking import MASKING
from sonde._torch.training import TRAINING

# Names of the inner module in DistributedDataParallel and DataParallel, torch.compile, and FSDP (today's and 1.13's).
WRAPPED = {"module", "_orig_mod", "_fsdp_wrapped_module", "_fpw_module"}
MAX_REBUILDS = 8  # of one root's names, when new modules appear


def attribute(module, name):
    """The attribute that nn.Module stores under this name, without the class's own access methods; None: not there."""
    own = object.__getattribute__(module, "__dict__")
    if name in own or not type(module).__module__.startswith("torch."):
        return own.get(name)
    return getattr(module, name, None)  # torch's own class: compiled or scripted modules ask the inner module


def children(module):
    """(name, module) of the direct children."""
    inside = attribute(module, "_modules")
    return [] if inside is None else [(name, child) for name, child in inside.items() if child is not None]


def modules_in(root):
    """(path, module) of the root and all modules inside, as the original named_modules() returns them."""
    seen, waiting = set(), [("", root)]
    while waiting:
        path, module = waiting.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        yield path, module
        waiting += [(f"{path}.{name}" if path else name, child) for name, child in reversed(children(module))]


def is_training(module):
    return attribute(module, "training") is not False


class Names:
    """The qualified names of a root's modules. Keeps no module alive."""

    def __init__(self, root):
        self.root = weakref.ref(root, lambda _, key=id(root): forget(key))
        self.builds = 0
        self.names = {}  # id -> (weak reference, name)
        self._build(root)

    def _build(self, root):
        self.builds += 1
        found = {id(module): (weakref.ref(module), self._shown(module, path)) for path, module in modules_in(root)}
        self.names.clear()  # the same object: _sonde.inside() looks into it
        self.names.update(found)

    @staticmethod
    def _shown(module, path):
        # DistributedDataParallel and DataParallel hold the model as `module`.
        path = path[len("module."):] if path.startswith("module.") else path
        return type(module).__name__ if path in ("", "module") else path

    def keep(self):
        """From now on the extension may enter this root by itself."""
        root = self.root()
        if id(root) not in _sonde.outermost:
            _sonde.outermost[id(root)] = (self.root, self, self.names, self.of(root))

    def of(self, module):
        found = self.names.get(id(module))
        if found is None or found[0]() is not module:
            root = self.root()
            if root is None or self.builds > MAX_REBUILDS:
                return type(module).__name__
            self._build(root)
            found = self.names.get(id(module))
        return found[1] if found is not None else type(module).__name__


HERE = _sonde.here   # of the calling thread: `root`, the Names of the outermost module being called; `due`, the tensor
                     # collections for which this call is examined; `backward`, the number of backward passes around it
NAMES = {}           # id of a root -> its Names
TRAINED = {}         # id -> weak reference of a module that had a training forward, or of the model inside it


def forget(key):
    NAMES.pop(key, None)
    _sonde.outermost.pop(key, None)


def names_of(root):
    names = NAMES.get(id(root))
    if names is None or names.root() is not root:
        names = NAMES[id(root)] = Names(root)
    return names


def is_trained(module):
    found = TRAINED.get(id(module))
    return found is not None and found() is module


def note_trained(module):
    """Notes the module and, if it is a wrapper (perhaps of another one), the model inside."""
    waiting = [module]
    while waiting:
        one = waiting.pop()
        if not is_trained(one):
            TRAINED[id(one)] = weakref.ref(one, lambda _, key=id(one): TRAINED.pop(key, None))
            waiting += [child for name, child in children(one) if name in WRAPPED]


class Outermost:
    """The scopes around the outermost call of a thread."""
    __slots__ = "names", "due", "around", "own"

    def __init__(self, module, gradients):
        kind = self._kind(module, gradients)
        self.names = names_of(module)
        self.due = tensors.due() if kind == FORWARD else ()
        if is_trained(module) and not tensors.are_looked_at():
            self.names.keep()
        self.around = NOTHING if kind is None else scope(kind, "forward" if kind == FORWARD else "evaluation")
        self.own = scope(MODULE, self.names.of(module))

    @staticmethod
    def _kind(module, gradients):
        if HERE.backward:
            return None
        training = is_training(module)
        if gradients:
            if training or is_trained(module):
                if not training and TRAINING.evaluation.is_open:
                    return None
                if training and not is_trained(module):
                    note_trained(module)
                TRAINING.forward()
            return FORWARD
        if training:
            return None
        if is_trained(module):
            TRAINING.begin_evaluation()
            return None
        return EVALUATION if TRAINING.is_evaluation() else None

    def __enter__(self):
        self.around.__enter__()
        self.own.__enter__()
        HERE.root, HERE.due = self.names, self.due
        HERE.names = None if self.due else self.names.names

    def __exit__(self, *exception):
        HERE.root = HERE.due = HERE.names = None
        self.own.__exit__(None, None, None)
        self.around.__exit__(None, None, None)
        return False


def install(torch, guard):
    Module = torch.nn.Module
    call, train = Module.__call__, Module.train
    skip, compiles = in_graph(torch), compiling(torch)
    gradients = torch.is_grad_enabled
    TRAINING.skips, TRAINING.gradients = skip, gradients

    def failed():
        """The extension must not enter anything either."""
        HERE.names = None
        _sonde.outermost.clear()

    guard.failed = failed

    def scope_of(module):
        try:
            names = HERE.root
            if names is not None:
                return scope(MODULE, names.of(module))
            return Outermost(module, gradients())
        except Exception as error:
            guard.fail(error)
            return NOTHING

    inside, leave = _sonde.inside, _sonde.leave

    @functools.wraps(call)
    def called(self, *args, **kwargs):
        if compiles is not None and compiles():
            return call(self, *args, **kwargs)
        entered = inside(self)
        if entered is None:
            return looked_at(self, args, kwargs)
        try:
            if len(args) == 1 and not kwargs:
                return call(self, args[0])  # the interpreter calls it without leaving its loop
            return call(self, *args, **kwargs)
        finally:
            leave(entered)

    def looked_at(self, args, kwargs):
        """Handles an outermost module, one whose tensors are read, or one that its root did not have."""
        if skip() or not guard.on or not enabled():
            return call(self, *args, **kwargs)
        is_outermost = HERE.root is None
        with scope_of(self):
            result = call(self, *args, **kwargs)
            if HERE.due:
                tensors.called(HERE.due, HERE.root, self, is_outermost, args, kwargs, result)
            return result

    def switched(module, mode):
        if not is_trained(module):
            return
        if mode is True:
            TRAINING.end_evaluation()
        elif mode is False:  # anything else is refused by torch
            TRAINING.begin_evaluation()

    @functools.wraps(train)
    def trained(self, mode=True):
        if TRAINED and not skip():
            guard.run(switched, self, mode)
        return train(self, mode)

    def take_out():
        # torch.compile's code depends on this method: a change would make it compile again.
        if vars(Module).get("__call__") is called and not compiled.USED:
            Module.__call__ = call

    def put_back():
        if vars(Module).get("__call__") is call:
            Module.__call__ = called

    Module.__call__ = called
    Module.train = trained
    MASKING.add(take_out, put_back)
