"""What `@sonde.operation("name")` makes of a function: each call gets a scope of its own.

A generator's or coroutine's scope lasts until it is exhausted, not until it is made.
"""
import functools
import inspect


def decorate(make, function, recording):
    """`make()` gives a fresh scope. Without recording the function stays as it is."""
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
