"""The decorator `@sonde.operation("name")`: each call of the function gets its own scope.

The scope of a generator or coroutine lasts until it is exhausted.
"""
import functools
import inspect


def decorate(make, function, recording):
    """`make()` returns a new scope. Without recording, returns the function itself."""
    if inspect.isclass(function) or not callable(function):
        raise TypeError("sonde: only functions can be decorated")
    if inspect.isasyncgenfunction(function):
        raise TypeError("sonde: an asynchronous generator cannot be decorated; use `with` inside it")
    if not recording:
        return function
    if inspect.iscoroutinefunction(function):
        async def around(*args, **kwargs):
            with make():
                return await function(*args, **kwargs)
    elif inspect.isgeneratorfunction(function):
        def around(*args, **kwargs):
            with make():
                return (yield from function(*args, **kwargs))
    else:
        def around(*args, **kwargs):
            with make():
                return function(*args, **kwargs)
    return functools.wraps(function)(around)
