"""The probe `python`: finds the native functions of extension modules when they are imported, and watches them.

sitecustomize loads it under `sonde run --sources +python`. It finds builtin functions, methods, class and static
methods, also those of pybind11 and Cython, and callable objects such as those of NumPy and nanobind. It searches
extension modules, their types, and the modules that they create. It ignores Python's own modules. It does not replace
the objects; see native.c.
"""
import builtins
import gc
import os
import sys
import sysconfig
from importlib import machinery
from types import FunctionType, ModuleType

from sonde import _native_modules, _sonde, metadata

_STDLIB = tuple(os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib"))
_PACKAGES = ("site-packages", "dist-packages")


def _note(text):
    metadata("sonde.python", text)


def _is_of_python(module):
    path = os.path.realpath(getattr(module, "__file__", None) or "")
    if not path or module.__name__ in sys.builtin_module_names:
        return True
    return path.startswith(_STDLIB) and not any(f"{os.sep}{folder}{os.sep}" in path for folder in _PACKAGES)


def _is_extension(module):
    loader = getattr(getattr(module, "__spec__", None), "loader", None)
    return isinstance(loader, machinery.ExtensionFileLoader)


class _Finder:
    """The first finder on sys.meta_path; the other finders do the work."""

    def __init__(self, find, loader, watcher):
        self._find = find
        self._loader = loader
        self._watcher = watcher

    def find_spec(self, name, path=None, target=None):
        spec = self._find(name, path, target, without=self)
        if spec is None or not hasattr(spec.loader, "exec_module") or isinstance(spec.loader, self._loader):
            return spec  # the last one: another of Sonde's finders has already called this one
        package = "." not in name and spec.submodule_search_locations is not None
        if package or isinstance(spec.loader, machinery.ExtensionFileLoader):
            spec.loader = self._loader(spec.loader, self._watcher.imported)
        return spec


class _Watcher:
    def __init__(self, categories):
        self._categories = categories
        self._on = True

    def imported(self, module):
        """Called after the import of an extension module, or of a top-level package that may have imported some."""
        if not self._on:
            return
        try:
            if _is_extension(module):
                self._extension(module)
            else:
                inside = module.__name__ + "."
                for name, each in list(sys.modules.items()):
                    if name.startswith(inside) and isinstance(each, ModuleType) and _is_extension(each):
                        self._extension(each)
        except Exception as error:  # the program comes first
            self._on = False
            _note(f"switched off at {module.__name__}: {type(error).__name__}: {error}")

    def _extension(self, module):
        category = _native_modules.category(module.__name__, self._categories)
        if category is None:
            category = _native_modules.PYTHON if _is_of_python(module) else _native_modules.OTHER
        if category != _native_modules.PYTHON:
            self._within(module, module.__name__, category, set())

    def _within(self, holder, name, category, seen):
        """Watches everything in the module or type `holder`, whose name is `name`."""
        if id(holder) in seen:
            return
        seen.add(id(holder))
        root = name.partition(".")[0]
        for key, value in list(vars(holder).items()):
            if isinstance(value, (ModuleType, type)):
                if _is_inside(value, name, root):
                    self._within(value, f"{name}.{key}", category, seen)
            elif isinstance(key, str) and key not in _LEFT_ALONE:
                self._function(value, f"{name}.{key}", category)

    @staticmethod
    def _function(value, name, category):
        value = value.__func__ if type(value).__name__ in ("staticmethod", "instancemethod") else value
        if type(value).__module__ in ("functools", "operator", "types") or isinstance(value, FunctionType):
            return
        if getattr(value, "__name__", None) not in _LEFT_ALONE and _is_own(value, name.partition(".")[0]):
            _sonde.watch_native(value, name, category)


# Called by the interpreter and by debuggers rather than by the program.
_LEFT_ALONE = frozenset(("__new__", "__repr__", "__str__", "__hash__", "__dir__", "__del__", "__sizeof__", "__reduce__",
                         "__reduce_ex__", "__getstate__", "__setstate__", "__class_getitem__", "__subclasshook__",
                         "__init_subclass__", "__dealloc__", "__getattribute__", "__getattr__"))


def _is_of_package(holder, root):
    """Whether a module or type belongs to the package `root`. A type that does not know its module has `builtins`."""
    module = holder.__name__ if isinstance(holder, ModuleType) else holder.__dict__.get("__module__", "builtins")
    if module == "builtins":
        return vars(builtins).get(holder.__name__) is not holder and isinstance(holder, type)
    return isinstance(module, str) and module.partition(".")[0] == root


def _is_own(function, root):
    """Whether the function belongs to the package. Modules and types also have attributes from others, as an
    enumeration has object.__new__."""
    holder = getattr(function, "__objclass__", None) or getattr(function, "__self__", None)
    if isinstance(holder, (ModuleType, type)):
        return _is_of_package(holder, root)
    module = getattr(function, "__module__", None)
    return not isinstance(module, str) or module.partition(".")[0] == root


def _is_inside(value, name, root):
    """Whether a module or type found in `name` belongs to it."""
    if isinstance(value, ModuleType):
        return value.__name__.startswith(name + ".") and not hasattr(value, "__file__")
    return _is_of_package(value, root)


def install(find, loader):
    """Watches later imports and garbage collections. `find` and `loader` are those of sitecustomize."""
    if not _sonde.recording:
        return
    if not _sonde.can_watch_native():
        _note(f"native functions are not recorded: unknown objects in Python {sys.version.split()[0]}")
        return
    watcher = _Watcher(_native_modules.table(os.environ.get("SONDE_MODULE_CATEGORIES", "")))
    sys.meta_path.insert(0, _Finder(find, loader, watcher))
    gc.callbacks.append(_sonde.collects)
