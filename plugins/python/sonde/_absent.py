"""The package for interpreters that cannot load the extension. It has the same names and records nothing. It refuses
the same arguments as the extension."""
import operator

from sonde._decorator import decorate


class _Scope:
    def __new__(cls):
        raise TypeError("create scopes with sonde.operation and its siblings")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False

    def __call__(self, function):
        return decorate(None, function, False)


_SCOPE = object.__new__(_Scope)


def _bare(function):
    if not isinstance(function.__qualname__, str):
        raise TypeError("sonde: __qualname__ is not a str")
    return _SCOPE(function)


def _named(name):
    if isinstance(name, str):
        return _SCOPE
    if callable(name):
        return _bare(name)
    raise TypeError("sonde: a scope's name must be a str")


def _require_str(value, what):
    if not isinstance(value, str):
        raise TypeError(f"sonde: {what} must be a str")


def operation(name, /):
    return _named(name)


def phase(name, /):
    return _named(name)


def evaluation(name="evaluation"):
    return _named(name)


def iteration(number=None):
    if callable(number):
        return _bare(number)
    if number is not None:
        operator.index(number)
    return _SCOPE


def scalar(name, value, /):
    _require_str(name, "a scalar's name")


def mark(name, /):
    _require_str(name, "a mark's name")


def metadata(*item, **items):
    if len(item) not in (0, 2):
        raise TypeError("sonde: metadata takes a key and a value, or keywords")
    if item:
        _require_str(item[0], "a key")


def iteration_info(samples=0, tokens=0, flops=0.0):
    pass
