"""Runs at the start of every Python program under `sonde run`. Loads the PyTorch hooks after `import torch` has
finished, and starts the probe `python` if it is requested. Then runs the sitecustomize that this file shadows.

A program that never imports torch pays for one comparison per import. Nothing here can make it fail.
"""
import os
import sys


def _find(name, path=None, target=None, without=None):
    """The spec that Python would find if the finder `without` were not there, or None."""
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None) if finder is not without else None
        spec = find(name, path, target) if find else None
        if spec is not None:
            return spec
    return None


class _WatchedLoader:
    """Loads a module with its own loader, the only one that the module sees, and then calls `loaded` with the
    module."""

    def __init__(self, loader, loaded):
        self._loader = loader
        self._loaded = loaded

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._loaded(module)


class _TorchFinder:
    """The first finder on sys.meta_path until torch is imported."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "torch":
            return None
        try:
            sys.meta_path.remove(_TorchFinder)
        except ValueError:  # another thread was faster
            return None
        spec = _find(name, path, target)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _WatchedLoader(spec.loader, _begin_torch)
        return spec


def _begin_torch(torch):
    try:
        if _package_is_ours():
            from sonde import _torch
            _torch.install(torch)
    except Exception:  # the host's program comes first; install() notes what it can
        pass


def _package_is_ours():
    """Whether the package sonde is Sonde's, not a module of the program."""
    from importlib import util
    spec = util.find_spec("sonde")
    own = os.path.dirname(os.path.abspath(__file__))
    return spec is not None and os.path.abspath(spec.origin or "") == os.path.join(own, "sonde", "__init__.py")


def _wants(source, by_default):
    """Whether the recorder requested this source."""
    if not os.environ.get("SONDE_SESSION"):
        return False
    sources = os.environ.get("SONDE_SOURCES", "").replace(" ", "")
    wanted = by_default and (sources == "" or sources[0] in "+-")
    for word in sources.split(","):
        if word in (source, "+" + source, "-" + source):
            wanted = word[0] != "-"
    return wanted


def _begin_python():
    try:
        if _package_is_ours():
            from sonde import _native
            _native.install(_find, _WatchedLoader)
    except Exception:  # the host's program comes first
        pass


def _shadowed():
    """The spec of the sitecustomize that Python would have run without this one, or None."""
    own = os.path.dirname(os.path.abspath(__file__))
    path = sys.path[:]
    sys.path[:] = [entry for entry in path if os.path.abspath(entry) != own]
    try:
        return _find("sitecustomize")
    finally:
        sys.path[:] = path


def _run_shadowed():
    spec = _shadowed()
    if spec is None or not hasattr(spec.loader, "exec_module"):
        return
    from importlib import util
    module = util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)  # site reports its exceptions, as without this file


if _wants("torch", True) and "torch" not in sys.modules:
    sys.meta_path.insert(0, _TorchFinder)
if _wants("python", False):
    _begin_python()
_run_shadowed()
