#!/usr/bin/env python3
"""Puts faults into a copy of the tree, one after the other, and reports which of them no test catches.

  mutate.py [-k PATTERN] [-n] [FAULTS]    FAULTS: tests/mutate/faults.txt, which says how it is written

-k: the faults whose name or file matches. -n: only looks whether the faults can still be put in. The copy and its build stay
in build/mutate, so that a later run builds what has changed. Exit status: 0, or 1 where something is to be done.
"""
import argparse
import ctypes
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
COPY = ROOT / "build/mutate"
BUILD = COPY / "build/dev"
LOG = COPY / "build/mutate.log"
LIMIT = 300  # s that the tests of a fault may take: one that makes them stand still is caught
BUILD_LIMIT = 3600
KEYS = ("file", "targets", "tests", "limit", "survives")


class Refused(Exception):
    """What the user has to mend first."""


@dataclasses.dataclass
class Fault:
    name: str
    why: str = ""
    file: str = ""
    before: str = ""
    after: str = ""
    targets: str = ""
    tests: str = ""
    limit: str = str(LIMIT)
    survives: str = ""

    def stale(self, text):
        """Why it cannot be put into this text, or None."""
        found = text.count(self.before) if self.before else 0
        return None if found == 1 else f"its text is {found} times in {self.file}"


def read_faults(path):
    faults = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        key, colon, value = line.partition(": ")
        if not line or line.startswith("#"):
            continue
        if line.startswith("== "):
            faults.append(Fault(line[3:].strip()))
        elif not faults:
            raise Refused(f"{path}:{number}: a fault begins with '== NAME'")
        elif line[:2] in ("- ", "-"):
            faults[-1].before += line[2:] + "\n"
        elif line[:2] in ("+ ", "+"):
            faults[-1].after += line[2:] + "\n"
        elif colon and key in KEYS:
            setattr(faults[-1], key, value.strip())
        else:
            faults[-1].why = f"{faults[-1].why} {line}".strip()
    for fault in faults:
        # Both are parts of a line, or lines but for the end of the last one.
        fault.before, fault.after = fault.before.removesuffix("\n"), fault.after.removesuffix("\n")
        for key in ("file", "before", "targets", "tests", "why"):
            if not getattr(fault, key):
                raise Refused(f"{path}: {fault.name} has no {key}")
    if len({fault.name for fault in faults}) < len(faults):
        raise Refused(f"{path}: two faults have the same name")
    return faults


# -- processes ----------------------------------------------------------------------------------------------------------


def adopt_orphans():
    """What a test leaves behind becomes this program's child, which ends it."""
    pr_set_child_subreaper = 36
    ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0)


def end_descendants():
    """Children of the killed come to this process in turn."""
    me = os.getpid()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        children = pathlib.Path(f"/proc/{me}/task/{me}/children").read_text().split()
        if not children:
            return
        for child in map(int, children):
            os.kill(child, signal.SIGKILL)
        for child in map(int, children):
            try:
                os.waitpid(child, 0)
            except ChildProcessError:
                pass


def run(command, limit):
    """(exit status, output); None: it took longer."""
    with subprocess.Popen(command, cwd=COPY, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=limit)
            status = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            end_descendants()  # or the pipe stays open
            output, _ = process.communicate()
            status = None
    end_descendants()
    with LOG.open("a") as log:
        log.write(f"$ {' '.join(map(str, command))}\n{output}\nexit status {status}\n\n")
    return status, output


# -- the copy -----------------------------------------------------------------------------------------------------------


def tracked():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout
    return {name for name in listed.split("\0") if name and (ROOT / name).is_file()}


def copy_tree():
    """As the tree is, with what is not committed; files that are the same keep their times."""
    names = tracked()
    for path in COPY.rglob("*"):
        name = str(path.relative_to(COPY))
        if not name.startswith("build/") and path.is_file() and name not in names:
            path.unlink()
    for name in names:
        source, target = ROOT / name, COPY / name
        data, mode = source.read_bytes(), source.stat().st_mode & 0o777
        if not target.is_file() or target.read_bytes() != data:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        target.chmod(mode)


def build(targets, limit=BUILD_LIMIT):
    jobs = os.environ.get("SONDE_JOBS", str(os.cpu_count()))
    return run(["ninja", "-C", BUILD, "-j", jobs, *targets], limit)


def test(pattern, limit, stop=True):
    return run(["ctest", "--test-dir", BUILD, "-R", pattern, "--no-tests=error", "--output-on-failure",
                *(["--stop-on-failure"] if stop else [])], limit)


def failed_tests(output):
    return re.findall(r"^ *\d+/\d+ Test +#\d+: (.*?) \.*\*\*\*(?!Skipped)", output, re.M)


def prepare(faults):
    """Builds the copy, and holds its tests to passing without a fault."""
    COPY.mkdir(parents=True, exist_ok=True)
    BUILD.parent.mkdir(exist_ok=True)
    LOG.write_text("")
    copy_tree()
    print(f"building without a fault in {BUILD} (log: {LOG})", flush=True)
    # Lets ccache find what was compiled in another folder.
    os.environ.update(CCACHE_NOHASHDIR="1", CCACHE_BASEDIR=str(COPY))
    os.environ.setdefault("CCACHE_SLOPPINESS", "pch_defines,time_macros")
    status, output = run(["cmake", "--preset", "dev"], BUILD_LIMIT)
    if status == 0:
        status, output = build(sorted({target for fault in faults for target in fault.targets.split()}))
    if status != 0:
        raise Refused(f"the tree does not build:\n{output[-3000:]}")
    for pattern in sorted({fault.tests for fault in faults}):  # one at a time: ctest takes few parentheses
        status, output = test(pattern, BUILD_LIMIT, stop=False)
        if status != 0:
            raise Refused(f"tests of {pattern} fail without a fault: {', '.join(failed_tests(output)) or output[-500:]}")


# -- faults -------------------------------------------------------------------------------------------------------------


def tried(fault):
    """(outcome, what there is to say of it) of a fault in the copy, which is as it was afterwards."""
    path = COPY / fault.file
    text = path.read_text()
    path.write_text(text.replace(fault.before, fault.after))
    try:
        status, output = build(fault.targets.split())
        if status != 0:
            return "no fault", "it does not build: " + (re.findall(r"error: .*", output) or [output[-200:]])[0]
        status, output = test(fault.tests, int(fault.limit))
    finally:
        path.write_text(text)
    if status is None:
        return "caught", f"after {fault.limit} s its tests had not ended"
    if status != 0 and "No tests were found" in output:
        return "no fault", f"no test is called {fault.tests}"
    if status != 0:
        return "caught", "by " + (failed_tests(output) or ["ctest"])[0]
    return ("survived as expected", fault.survives) if fault.survives else ("survived", fault.why)


def stale_ones(faults):
    stale = {}
    for fault in faults:
        path = ROOT / fault.file
        reason = fault.stale(path.read_text()) if path.is_file() else f"there is no {fault.file}"
        if reason:
            stale[fault.name] = reason
    return stale


def report(outcome, fault, said):
    print(f"{outcome:<9} {fault.name}: {said}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-k", dest="pattern", default="", help="only faults whose name or file matches")
    parser.add_argument("-n", dest="dry", action="store_true", help="only look whether they can still be put in")
    parser.add_argument("faults", nargs="?", type=pathlib.Path, default=ROOT / "tests/mutate/faults.txt")
    options = parser.parse_args()
    faults = [fault for fault in read_faults(options.faults)
              if re.search(options.pattern, fault.name) or re.search(options.pattern, fault.file)]
    if not faults:
        raise Refused(f"no fault matches {options.pattern!r}")
    stale = stale_ones(faults)
    outcomes = {}
    for fault in faults:
        if fault.name in stale:
            outcomes[fault.name] = "stale"
            report("stale", fault, stale[fault.name])
    ready = [fault for fault in faults if fault.name not in stale]
    if options.dry:
        print(f"{len(ready)} of {len(faults)} faults can be put in")
        return 1 if stale else 0
    if ready:
        adopt_orphans()
        prepare(ready)
        for fault in ready:
            began = time.monotonic()
            outcome, said = tried(fault)
            outcomes[fault.name] = outcome
            report(outcome, fault, f"{said} ({time.monotonic() - began:.0f} s)")
    counts = {kind: list(outcomes.values()).count(kind)
              for kind in ("caught", "survived", "survived as expected", "stale", "no fault")}
    print(f"{len(faults)} faults: " + ", ".join(f"{count} {kind}" for kind, count in counts.items() if count))
    for kind in ("survived", "stale", "no fault"):
        if counts[kind]:
            print(f"{kind}: " + ", ".join(name for name, outcome in outcomes.items() if outcome == kind))
    return 1 if counts["survived"] + counts["stale"] + counts["no fault"] else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as error:
        sys.exit(f"mutate.py: {error}")
