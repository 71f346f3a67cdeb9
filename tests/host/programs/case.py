"""A case: a command whose results must be the same however it is run. Its rules normalise what may differ."""
import dataclasses
import difflib
import hashlib
import os
import pathlib
import re
import stat

SHOWN_LINES = 24  # of each difference


@dataclasses.dataclass(frozen=True)
class Case:
    program: str  # row of the table
    name: str
    command: tuple
    stdin: str = ""
    files: tuple = ()  # (path, text), written before the command runs
    rules: tuple = ()  # (regular expression, replacement), applied to both outputs, in this order
    any_order: bool = False  # the lines of both outputs are sorted
    ignored: tuple = ()  # patterns of files that may differ
    contents: bool = True  # whether files are compared by content, or by name and type alone
    limit: int = 60  # seconds
    short: bool = False  # is part of the short set
    needs: tuple = ()  # programs without which the case is left out
    user: str = ""  # who runs it, where root compares
    status: int = 0  # what a run without Sonde ends with

    @property
    def title(self):
        return f"{self.program}: {self.name}"


PARTS = ("hangs", "unrecorded", "status", "stdout", "stderr", "files", "left")


@dataclasses.dataclass
class Outcome:
    """What a run showed: PARTS, and what explains them."""
    status: int
    stdout: str
    stderr: str
    files: str = ""
    left: tuple = ()
    hang: str = ""
    hangs: bool = False
    unrecorded: str = ""  # why this run says nothing about recording
    processes: int = 0  # in the trace

def normalised(text, case):
    for pattern, replacement in case.rules:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return "\n".join(sorted(text.split("\n"))) if case.any_order else text


def _entry(path, contents):
    info = os.lstat(path)
    kind, mode = stat.filemode(info.st_mode)[0], stat.filemode(info.st_mode)[1:]
    if kind == "l":
        return f"l {os.readlink(path)}"
    if kind != "-":
        return f"{kind} {mode}"
    if not contents:
        return kind
    return f"- {mode} {info.st_size} {hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()[:16]}"


def files_below(folder, case):
    """What a command left behind: a line for each file, with type, mode, size and content."""
    lines = []
    for path in sorted(pathlib.Path(folder).rglob("*")):
        name = str(path.relative_to(folder))
        if not any(re.fullmatch(pattern, name) for pattern in case.ignored):
            lines.append(f"{name}: {_entry(path, case.contents)}")
    return "\n".join(lines)


def _parts(outcome):
    return re.split(r"^== ", outcome.stdout, flags=re.MULTILINE)[1:] or [outcome.stdout]


def checks(bare, recorded, same):
    """How many things the case does, by its `== …` lines, and how many of them are alike."""
    parts, others = _parts(bare), _parts(recorded)
    alike = sum(one == other for one, other in zip(parts, others))
    return len(parts), len(parts) if same else min(alike, len(parts) - 1)


def _changes(what, one, other):
    if one == other:
        return []
    lines = list(difflib.unified_diff(one.split("\n"), other.split("\n"), "bare", "recorded", lineterm="", n=1))[2:]
    cut = [f"… {len(lines) - SHOWN_LINES} more lines"] if len(lines) > SHOWN_LINES else []
    return [f"{what}:"] + [f"    {line[:300]}" for line in lines[:SHOWN_LINES] + cut]


def differences(bare, recorded):
    """Lines that say how two outcomes differ; empty if they do not."""
    if recorded.hang and not bare.hang:
        return ["hangs; still running at the time limit:"] + [f"    {line}" for line in recorded.hang.split("\n")]
    lines = [recorded.unrecorded] if recorded.unrecorded else []
    if bare.status != recorded.status:
        lines.append(f"exit status: bare {bare.status}, recorded {recorded.status}")
    for what in ("stdout", "stderr", "files"):
        lines += _changes(what, getattr(bare, what), getattr(recorded, what))
    return lines + _changes("processes left", "\n".join(bare.left), "\n".join(recorded.left))
