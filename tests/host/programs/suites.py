"""Test suites that Debian packages, run bare and recorded, and compared test by test.

A test that passes bare and not under Sonde is run again, three times each way, before it counts as a difference.
"""
import dataclasses
import pathlib
import re
import shlex
import xml.etree.ElementTree

import ways
from case import Case

PYTHON = "/usr/bin/python3"
TESTS = pathlib.Path("/usr/lib/python3.11/test/test_os.py")  # of libpython3.11-testsuite
MODULES = ("test_os test_posix test_subprocess test_socket test_signal test_threading test_multiprocessing_fork "
           "test_multiprocessing_spawn test_multiprocessing_forkserver test_asyncio test_selectors test_epoll test_fcntl test_io "
           "test_mmap test_pty test_faulthandler test_concurrent_futures test_ctypes").split()
MORE_MODULES = ("test_select test_poll test_popen test_fileio test_file test_pathlib test_shutil test_tempfile "
                "test_httpservers test_thread test_queue test_wait3 test_wait4 test_fork1 test_threadsignals "
                "test_eintr test_openpty test_gc test_cmd_line test_tracemalloc test_resource test_time "
                "test_largefile test_bufio").split()
# Without a vsock loopback the first waits for ever, even without Sonde. The other one requires that Python's path is the same
# with and without the environment, in which Sonde has its folder (docs/cli/run.md).
LEFT_OUT = ("*VSOCK*", "test_empty_PYTHONPATH_issue16309")
GLIB = pathlib.Path("/usr/share/installed-tests/glib")  # what the tests are; helpers lie beside their programs
TIMES = 3
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


@dataclasses.dataclass(frozen=True)
class Suite:
    program: str
    name: str
    command: tuple
    read: object  # (folder, outcome) -> {test: PASSED, FAILED or SKIPPED}
    again: object  # (tests) -> a command that runs these alone
    limit: int = 900
    row: str = ""  # of the table

    @property
    def title(self):
        return f"{self.program}: {self.name}"


def _xml_results(file):
    results = {}
    for case in xml.etree.ElementTree.parse(file).iter("testcase"):
        bad = case.find("failure") is not None or case.find("error") is not None
        results[case.get("name")] = FAILED if bad else SKIPPED if case.find("skipped") is not None else PASSED
    return results


def python_results(folder, outcome):
    """What `python3 -m test --junit-xml` wrote; where it did not come to that, what -v printed."""
    try:
        return _xml_results(folder / "work" / "results.xml")
    except (FileNotFoundError, xml.etree.ElementTree.ParseError):
        said = re.findall(r"^\w+ \((\S+)\).* \.\.\. (ok|skipped|FAIL|ERROR)", outcome.stdout, flags=re.MULTILINE)
        return {name: {"ok": PASSED, "skipped": SKIPPED}.get(result, FAILED) for name, result in said}


def _matching(tests):
    return [word for test in tests for word in ("-m", test)]


def python_suites():
    if not TESTS.exists():
        return
    for module in MODULES + MORE_MODULES:
        command = (PYTHON, "-m", "test", "-v", *(word for pattern in LEFT_OUT for word in ("-i", pattern)), "--junit-xml", "results.xml")
        yield Suite("CPython's test suite", module, (*command, module), python_results,
                    lambda tests, command=command, module=module: (*command, *_matching(tests), module), row=module)


def tap_results(_, outcome):
    results = {}
    for bad, name, skipped in re.findall(r"^(not )?ok \d+ (\S+)( # SKIP)?", outcome.stdout, flags=re.MULTILINE):
        results[re.sub(r"seed:\d+", "seed:…", name)] = FAILED if bad else SKIPPED if skipped else PASSED
    results["exit status 0"] = PASSED if outcome.status == 0 else FAILED
    return results


def glib_suites():
    for test in sorted(GLIB.glob("*.test")):
        command = (*shlex.split(re.search("^Exec=(.*)$", test.read_text(), flags=re.MULTILINE)[1]), "--tap")
        if not command[0].endswith(".py"):
            yield Suite("GLib's installed tests", test.stem, command, tap_results,
                        lambda tests, command=command: command, limit=120, row="all programs")


def all_suites():
    return [*python_suites(), *glib_suites()]


def _run(suite, command, way, folder):
    """The results of each test, with what hung as a failed test of its own."""
    outcome = ways.outcome(Case(suite.program, suite.name, command, limit=suite.limit, contents=False), way, folder)
    results = suite.read(folder, outcome)
    if outcome.hang:
        results["ends within the time limit"] = FAILED
        last = re.findall(r"^(\w+ \(\S+\)).*$", outcome.stdout, flags=re.MULTILINE)[-1:]
        print(f"  hangs: {' '.join(command)}\n  last: {' '.join(last)}\n  {outcome.hang}", flush=True)
    if outcome.unrecorded:
        results["is recorded"] = FAILED
        print(f"  {outcome.unrecorded}", flush=True)
    return results, outcome


def _again(suite, tests, way, folder):
    """How often each of `tests` passed, of TIMES runs."""
    passed = dict.fromkeys(tests, 0)
    for _ in range(TIMES):
        results, _ = _run(suite, suite.again(tests), way, folder)
        for test in tests:
            passed[test] += results.get(test) == PASSED
    return passed


def _lost(bare, recorded):
    """Tests that passed bare and not recorded; and those that the runs' ends add."""
    return sorted(test for test in {**bare, **recorded}
                  if bare.get(test, PASSED) == PASSED and recorded.get(test) != PASSED
                  and (test in bare or recorded[test] == FAILED))


def _entry(suite, way, bare, differing, flaky):
    passed = [test for test, result in bare.items() if result == PASSED]
    return {"program": f"{suite.program}: {suite.row}", "suite": True, "way": way.name, "test": suite.name,
            "tests": sum(result != SKIPPED for result in bare.values()), "bare": len(passed),
            "recorded": sum(test not in differing for test in passed), "flaky": len(flaky), "differs": len(differing),
            "how": differing + flaky}


def compare(suite, wanted, folder):
    """An entry of the results for each way."""
    folder = pathlib.Path(folder)
    bare, _ = _run(suite, suite.command, ways.BARE, folder)
    entries = []
    for way in wanted:
        recorded, outcome = _run(suite, suite.command, way, folder)
        lost = _lost(bare, recorded)
        again = _again(suite, lost, way, folder) if lost else {}
        again_bare = _again(suite, lost, ways.BARE, folder) if lost else {}
        differing = [test for test in lost if again[test] < TIMES and again_bare[test] == TIMES]
        flaky = [test for test in lost if test not in differing]
        verdict = "differs" if differing else "flaky" if flaky else "same"
        counts = (list(results.values()).count(PASSED) for results in (bare, recorded))
        print(f"{verdict:10} {suite.title} ({way.name}, {outcome.processes} processes): {len(bare)} tests, "
              "{} passed bare, {} recorded".format(*counts), flush=True)
        for test in lost:
            print(f"  {'differs' if test in differing else 'flaky'}: {test}: passed bare and not recorded; run again, "
                  f"{again_bare[test]} of {TIMES} bare, {again[test]} of {TIMES} recorded", flush=True)
        entries.append(_entry(suite, way, bare, differing, flaky))
    return entries
