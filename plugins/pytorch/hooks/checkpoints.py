"""torch.save and torch.load: records the outermost call of a thread.

Pickling a tensor or a module calls both for each storage; such calls are not checkpoints and are not recorded.
"""
import functools
import threading

from sonde._torch.guard import CHECKPOINT, NOTHING, scope


class Here(threading.local):
    busy = False


HERE = Here()


class Checkpoint:
    """The scope of a checkpoint; calls inside it are not checkpoints. `name` None: it is not one either."""

    def __init__(self, name):
        self.scope = NOTHING if name is None else scope(CHECKPOINT, name)

    def __enter__(self):
        HERE.busy = True
        self.scope.__enter__()

    def __exit__(self, *exception):
        HERE.busy = False
        self.scope.__exit__(None, None, None)
        return False


def install(torch, guard):
    storages = tuple(kind for kind in (getattr(torch.storage, name, None) for name in (
        "TypedStorage", "_TypedStorage", "UntypedStorage", "_UntypedStorage", "_StorageBase")) if kind)
    for name in ("save", "load"):
        function = getattr(torch.serialization, name)
        wrapped = wrap(function, f"torch.{name}", storages, guard)
        setattr(torch.serialization, name, wrapped)
        if getattr(torch, name, None) is function:
            setattr(torch, name, wrapped)
    torch.storage._load_from_bytes = wrap(torch.storage._load_from_bytes, None, (), guard)


def wrap(function, shown, storages, guard):
    def around(arguments):
        if HERE.busy:
            return NOTHING
        return Checkpoint(None if arguments and issubclass(type(arguments[0]), storages) else shown)

    @functools.wraps(function)
    def called(*args, **kwargs):
        with guard.run(around, args) or NOTHING:
            return function(*args, **kwargs)

    return called
