"""One command with a time limit, and all the processes that it leaves: they are children of this one, and none survives it.

Call own_descendants() once before the first run.
"""
import atexit
import ctypes
import dataclasses
import os
import pathlib
import signal
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
GRACE = 6  # seconds that processes may outlive their command; `sonde run` gives them five


@dataclasses.dataclass
class Ended:
    """How a command ended. `hang` names the processes that still ran at the time limit; `left` those that outlived it."""
    status: int
    hang: str = ""
    left: tuple = ()


def own_descendants():
    """Orphans become children of this process; a SIGTERM, or the end otherwise, ends them all."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    atexit.register(_kill_all)
    for ignored in (signal.SIGINT, signal.SIGQUIT):  # by a shell that started this in the background; tests need them
        if signal.getsignal(ignored) == signal.SIG_IGN:
            signal.signal(ignored, signal.SIG_DFL)
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def _read(pid, name):
    try:
        return pathlib.Path(f"/proc/{pid}/{name}").read_bytes().decode(errors="backslashreplace")
    except OSError:
        return ""


def _stat(pid):
    return _read(pid, "stat").rpartition(")")[2].split() or ["X", "0"]


def descendants(root):
    """The living processes below `root`, parents first, without `root`. Zombies are not among them, but what is below them is."""
    children = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            children.setdefault(int(_stat(entry.name)[1]), []).append(int(entry.name))
    found, waiting = [], [root]
    while waiting:
        below = children.get(waiting.pop(0), [])
        found += below
        waiting += below
    return [pid for pid in found if _stat(pid)[0] not in "ZX"]


def _command(pid):
    return _read(pid, "cmdline").replace("\0", " ").strip() or f"[{_read(pid, 'comm').strip()}]"


def describe(pid):
    """A process that hangs, in one line: its command, its threads' states, and the system calls that they are in."""
    threads = []
    for task in sorted(os.listdir(f"/proc/{pid}/task"), key=int) if os.path.isdir(f"/proc/{pid}/task") else []:
        state = _stat(f"{pid}/task/{task}")[0]
        call = _read(pid, f"task/{task}/syscall").split()[:2]
        threads.append(f"{state} {_read(pid, f'task/{task}/wchan')} {' '.join(call)}".strip())
    return f"{pid} {_command(pid)} [{'; '.join(threads[:8])}]"


def _reap():
    """Buries adopted children that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _kill_all():
    """Kills what is below this process until nothing is: a process may start another one meanwhile."""
    for _ in range(200):
        living = descendants(os.getpid())
        if not living:
            break
        for pid in living:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.02)
        _reap()


def _wait_for(process, limit):
    try:
        return process.wait(timeout=limit)
    except subprocess.TimeoutExpired:
        return None


def run(command, limit, **popen):
    """Runs `command` in a session of its own for at most `limit` seconds."""
    process = subprocess.Popen(command, start_new_session=True, **popen)
    status = _wait_for(process, limit)
    if status is None:
        hang = "\n".join(describe(pid) for pid in descendants(os.getpid()))
        _kill_all()
        return Ended(process.poll(), hang=hang or "the command itself")
    deadline = time.monotonic() + GRACE
    _reap()
    while descendants(os.getpid()) and time.monotonic() < deadline:
        time.sleep(0.02)
        _reap()
    left = tuple(sorted(_command(pid) for pid in descendants(os.getpid())))
    _kill_all()
    _reap()
    return Ended(status, left=left)
