"""The package for interpreters that cannot load the extension: the same names, nothing recorded."""
from sonde._decorator import decorate


class _Scope:
    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False

    def __call__(self, function):
        return decorate(None, function, False)


_SCOPE = _Scope()


def _named(name):
    if isinstance(name, str):
        return _SCOPE
    if callable(name):
        return _SCOPE(name)
    raise TypeError("sonde: a scope's name must be a str")


def operation(name):
    return _named(name)


def phase(name):
    return _named(name)


def evaluation(name="evaluation"):
    return _named(name)


def iteration(number=None):
    return _SCOPE(number) if callable(number) else _SCOPE


def scalar(name, value):
    pass


def mark(name):
    pass


def metadata(*item, **items):
    pass


def iteration_info(samples=0, tokens=0, flops=0.0):
    pass
