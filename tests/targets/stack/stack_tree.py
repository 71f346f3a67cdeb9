"""Python functions that spend known amounts of CPU time, on two threads: "stack_tree.py SECONDS", of each. Prints "path NANOSECONDS"
for each path, outermost first, as `sonde stacks` names frames (tests/e2e/threads/stack_python_test.py)."""
import functools
import random
import sys
import threading
import time
import zlib

FILE = "stack_tree.py"
TRUTH = {}
DATA = bytes(range(256)) * 4096


def text(function, within=""):
    """As a frame: qualified from Python 3.11 on."""
    name = function.__qualname__ if sys.version_info >= (3, 11) else function.__name__
    return f"{name} ({FILE}:{function.__code__.co_firstlineno})"


def spin(units):
    total = 0
    for i in range(units):
        total += i & 7
    return total


def measured(path, call):
    begin = time.thread_time_ns()
    result = call()
    TRUTH[path] = TRUTH.get(path, 0) + time.thread_time_ns() - begin
    return result


def direct(units):
    return spin(units)


def recursive(depth, units):
    return spin(units) if depth == 0 else recursive(depth - 1, units)


def compared(_):
    return spin(20000)


def through_native(units):
    """A built-in function that calls back."""
    return sorted(range(max(units // 20000, 1)), key=compared)


def generated(units):
    for _ in range(3):
        yield spin(units // 3)


def consuming(units):
    return sum(generated(units))


def native(units):
    for _ in range(max(units // 40000, 1)):
        zlib.crc32(DATA)


class Größe:
    def методика(self, units):
        return spin(units)


def work(seconds, choices, seed):
    chance = random.Random(seed)
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        path, function = chance.choice(choices)
        units = chance.randrange(2000, 120000)
        measured(path, functools.partial(function, units))


def choices_of(thread):
    if thread == 0:
        return [(f"{text(direct)};{text(spin)}", direct),
                (";".join([text(recursive)] * 5 + [text(spin)]), functools.partial(recursive, 4)),
                (f"{text(through_native)};{text(compared)};{text(spin)}", through_native)]
    return [(f"{text(consuming)};{text(generated)};{text(spin)}", consuming),
            (text(native), native),
            (f"{text(Größe.методика)};{text(spin)}", Größe().методика)]


def body(thread, seconds):
    work(seconds, choices_of(thread), thread + 1)


def main():
    threads = [threading.Thread(target=body, args=(i, float(sys.argv[1]))) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for path, ns in TRUTH.items():
        print(f"{ns} {path}")


main()
