"""The ways to run a case: bare, under `sonde run`, or with a library preloaded that is wrong on purpose."""
import dataclasses
import os
import pathlib
import pwd
import shutil
import sqlite3
import subprocess
import tempfile

import bounded_run
from case import Outcome, files_below, normalised

REDIRECT = 'exec "$@" <../stdin >../stdout 2>../stderr'  # apart from what `sonde run` itself writes
RECORDING_TIME = 3  # times a case's time limit, under Sonde
# Where Sonde keeps the costs of recording: not in HOME, whose files are compared, and not measured again for each case.
CACHE = str(pathlib.Path(tempfile.gettempdir()) / f"sonde-host-programs-{os.getuid()}")
KEPT = ("PATH", "USER", "LOGNAME", "SHELL", "SONDE_HOST_FAULT")


@dataclasses.dataclass(frozen=True)
class Way:
    name: str
    prefix: tuple = ()  # in front of the command
    preload: str = ""
    slower: int = 1

    def environment(self, folder):
        environment = {k: v for k, v in os.environ.items() if k in KEPT}
        environment |= {"HOME": str(folder / "work"), "XDG_CACHE_HOME": CACHE, "LC_ALL": "C.UTF-8", "TZ": "UTC",
                        "SONDE_SPOOL": str(folder / "spool"), "PYTHONDONTWRITEBYTECODE": "1", "TERM": "dumb"}
        return environment | ({"LD_PRELOAD": self.preload} if self.preload else {})


BARE = Way("bare")


def recorded(sonde, name, sources):
    """Under `sonde run`, with a list of sources as `--sources` takes it, or the default where it is empty."""
    return Way(name, (sonde, "run", "-o", "../t.sonde", *(("--sources", sources) if sources else ()), "--"),
               slower=RECORDING_TIME)


def preloaded(library):
    return Way("preloaded", preload=library)


def _prepare(folder, case):
    shutil.rmtree(folder, ignore_errors=True)
    work = folder / "work"
    work.mkdir(parents=True)
    (folder / "spool").mkdir()
    (folder / "stdin").write_text(case.stdin)
    for name, text in case.files:
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    if case.user and os.geteuid() == 0:
        entry = pwd.getpwnam(case.user)
        for path in (folder, *folder.rglob("*")):
            os.chown(path, entry.pw_uid, entry.pw_gid)
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    return {}


def _recorded_processes(folder):
    """How many processes the trace has; 0 if there is none."""
    trace = folder / "t.sonde"
    if not trace.exists():
        return 0
    with sqlite3.connect(f"file:{trace}?mode=ro", uri=True) as database:
        return database.execute("SELECT count(*) FROM process").fetchone()[0]


def _text(folder, name):
    try:
        return (folder / name).read_bytes().decode(errors="backslashreplace")
    except FileNotFoundError:
        return ""


def outcome(case, way, folder):
    """Runs a case once, in `folder`/work, which is made anew. `folder` is the same for all ways: its name is in outputs."""
    folder = pathlib.Path(folder)
    who = _prepare(folder, case)
    with open(folder / "own", "w") as own:
        ended = bounded_run.run((*way.prefix, "/bin/sh", "-c", REDIRECT, "sh", *case.command), case.limit * way.slower,
                                cwd=folder / "work", stdin=subprocess.DEVNULL, stdout=own, stderr=own, env=way.environment(folder), **who)
    stdout, stderr = (normalised(_text(folder, name), case) for name in ("stdout", "stderr"))
    result = Outcome(ended.status, stdout, stderr, files_below(folder / "work", case),
                     tuple(normalised(each, case) for each in ended.left), ended.hang, bool(ended.hang))
    if way.prefix and not ended.hang:
        result.processes = _recorded_processes(folder)
        if not result.processes:
            result.unrecorded = "nothing was recorded: " + _text(folder, "own").strip()
    return result
