"""Runs Python programs under the logging library (api_log.c) and turns its log into slices.

SONDE_BUILD is the build folder; SONDE_PYTHON the interpreter of the programs (default: this one).
"""
import dataclasses
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap

BUILD = pathlib.Path(os.environ["SONDE_BUILD"])
PYTHON = os.environ.get("SONDE_PYTHON", sys.executable)
PACKAGE = BUILD / "lib/sonde/python"
LIBRARY = BUILD / "tests/targets/libsonde_api_log.so"
KINDS = {1: "phase", 2: "operation", 3: "iteration", 4: "micro_step", 5: "forward", 6: "backward", 7: "optimizer",
         8: "data_load", 9: "checkpoint", 10: "evaluation", 11: "module", 12: "operator", 17: "python"}


@dataclasses.dataclass
class Slice:
    kind: str
    name: str
    pid: int
    tid: int
    parent: "Slice" = None
    begin: int = 0  # line number in the log
    end: int = None
    crossed: bool = False
    arguments: dict = dataclasses.field(default_factory=dict)

    def path(self):
        return (self.parent.path() if self.parent else ()) + (self.name,)

    def inside(self, kind):
        """The nearest slice of this kind around this one, or None."""
        above = self.parent
        while above is not None and above.kind != kind:
            above = above.parent
        return above


class Recording:
    """What one run recorded: slices in order of their begin, and the other records as tuples."""

    def __init__(self, process, log):
        self.process, self.stdout, self.stderr = process, process.stdout, process.stderr
        self.slices, self.scalars, self.marks, self.metadata, self.infos, self.hints = [], [], [], {}, [], []
        self.others = {"scalar": self.scalars, "mark": self.marks, "info": self.infos, "hint": self.hints}
        self._stacks, self._tokens = {}, {}
        for number, line in enumerate(log.splitlines()):
            pid, tid, verb, *rest = line.split("\t")
            self._read(number, int(pid), int(tid), verb, rest)

    def _read(self, number, pid, tid, verb, rest):
        stack = self._stacks.setdefault((pid, tid), [])
        if verb == "begin":
            one = Slice(KINDS[int(rest[1])], rest[2], pid, tid, stack[-1] if stack else None, number)
            stack.append(one)
            self._tokens[pid, tid, rest[0]] = one
            self.slices.append(one)
        elif verb == "end":
            one = self._tokens[pid, tid, rest[0]]
            assert one.end is None, f"ended twice: {one.name}"
            one.end, one.crossed = number, stack[-1] is not one
            stack.remove(one)
        elif verb == "argument":
            self._tokens[pid, tid, rest[0]].arguments[rest[1]] = int(rest[2])
        elif verb == "metadata":
            self.metadata[rest[1]] = rest[2]
        else:
            self.others[verb].append((number, pid, *rest))

    def of(self, *kinds):
        return [one for one in self.slices if one.kind in kinds]

    def names(self, *kinds):
        return [one.name for one in self.of(*kinds)]


def run(program, *, library=LIBRARY, environment=None, python=PYTHON, arguments=(), check=True):
    """Runs a program given as text. `library=None`: without a recording library."""
    with tempfile.TemporaryDirectory() as folder:
        script, log = pathlib.Path(folder, "program.py"), pathlib.Path(folder, "log")
        script.write_text(textwrap.dedent(program), encoding="utf-8")
        variables = {**os.environ, "PYTHONPATH": str(PACKAGE), "SONDE_TEST_LOG": str(log), **(environment or {})}
        if library:
            variables["LD_PRELOAD"] = str(library)
            variables.setdefault("SONDE_SESSION", folder)
        process = subprocess.run([python, str(script), *arguments], env=variables, capture_output=True, text=True,
                                 timeout=300, check=False)
        if check and process.returncode != 0:
            raise AssertionError(f"exit {process.returncode}\n{process.stdout}\n{process.stderr}")
        return Recording(process, log.read_text(encoding="utf-8") if log.exists() else "")
