"""Names of tensors: parameters and modules have their path from the program's outermost module, as in state_dict(). If
there are several such modules, names of all but the first start with the class: `Discriminator.0.weight`."""
import weakref

from sonde._torch import modules

MAX_NUMBERED = 16  # outermost modules of one class
MAX_REBUILDS = 64  # when parameters of unknown modules appear


class TensorNames:
    def __init__(self):
        self.first = None  # there has been one
        self.roots = {}    # id of a root -> (weak reference, prefix)
        self.prefixes = {}  # class -> number of its roots
        self.parameters = {}  # id of a parameter -> (weak reference, name)
        self.builds = 0

    def prefix(self, root):
        found = self.roots.get(id(root))
        if found is not None and found[0]() is root:
            return found[1]
        name = type(root).__name__
        count = self.prefixes[name] = self.prefixes.get(name, 0) + 1
        if self.first is None:
            prefix, self.first = "", True
        else:  # a program may create many, for one call each; not all get a number
            prefix = f"{name}." if count == 1 or count > MAX_NUMBERED else f"{name}#{count}."
        self.roots[id(root)] = (weakref.ref(root, lambda _, key=id(root): self.roots.pop(key, None)), prefix)
        return prefix

    def of_parameter(self, parameter, otherwise):
        """`otherwise`: the name of a parameter of no known module."""
        found = self.parameters.get(id(parameter))
        if found is None or found[0]() is not parameter:
            if self.builds < MAX_REBUILDS:
                self.builds += 1
                self._build()
            found = self.parameters.get(id(parameter))
            if found is None or found[0]() is not parameter:
                found = self.parameters[id(parameter)] = (weakref.ref(parameter), otherwise)
        return found[1]

    def _build(self):
        """Uses outermost modules only, not the models inside wrappers that TRAINED also has."""
        trained = [one for one in (reference() for reference in list(modules.TRAINED.values())) if one is not None]
        inside = {id(module) for one in trained for path, module in modules.modules_in(one) if path}
        for root in trained:
            if id(root) not in inside:
                for path, module in modules.modules_in(root):
                    self._add(root, path, module)

    def _add(self, root, path, module):
        parameters = modules.attribute(module, "_parameters") or {}
        for name, parameter in parameters.items():
            known = self.parameters.get(id(parameter))
            if parameter is not None and (known is None or known[0]() is not parameter):
                full = f"{path}.{name}" if path else name
                self.parameters[id(parameter)] = (weakref.ref(parameter), self.prefix(root) + without_wrapper(full))


def without_wrapper(path):
    """The name without the prefix that DistributedDataParallel and torch.compile give to the module inside."""
    for wrapper in ("module.", "_orig_mod."):
        if path.startswith(wrapper):
            return without_wrapper(path[len(wrapper):])
    return path
