#!/usr/bin/env python3
"""How soon the rule `hang` names the right rank of real jobs that stand still.

  bench/hang_runs.py SONDE TARGETS [ROUNDS]

SONDE is the program, TARGETS the folder of test targets (build/…/tests/targets). Each round runs two Gloo ranks with a
recorder each, of which rank 1 leaves its loop, and two MPI ranks under one recorder, of which rank 0 waits for a message
that nobody sends while rank 1 is in an all-reduce. The third kind is four Gloo ranks whose recorders judge the job by all
rules through a folder. The time is from the last progress of the job to the finding.
"""
import json
import os
import pathlib
import socket
import sqlite3
import subprocess
import sys
import tempfile

SONDE, TARGETS = sys.argv[1], pathlib.Path(sys.argv[2])
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 10
HERE = pathlib.Path(__file__).resolve().parent
RULES = '[rules]\nhang = "error"\n'
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}


def seconds_until_named(trace, entities):
    """From the begin of the hang to the first finding about one of these entities; None if there is none."""
    found = json.loads(subprocess.run([SONDE, "check", trace, "--rules", trace.parent / "hang.toml", "--format", "json"],
                                      capture_output=True, text=True, check=False).stdout)["results"]
    fired = [each for each in found if each["verdict"] == "fired"]
    if not fired or not {each["entity"] for each in fired} <= entities:
        return None
    begin = fired[0]["evidence"]["time_range"][0]
    with sqlite3.connect(f"file:{trace}?mode=ro", uri=True) as database:
        named, text = database.execute("SELECT ts_ns, text FROM note WHERE source = 'rule hang' ORDER BY ts_ns").fetchone()
    return (named - begin) / 1e9 if text.split(":")[0] in entities else None


def ranks_of_gloo(folder, world, rules, stops):
    """`stops`: options of rank 0, and of the others. Ends when rank 0's recorder has."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    jobs = [subprocess.Popen(
        [SONDE, "run", "-o", folder / f"rank{rank}.sonde", "--rules", folder / rules, *stops[min(rank, 1)], "--",
         "/usr/bin/python3", HERE.parent / "tests/targets/python/hanging_rank.py"],
        env={**os.environ, "RANK": str(rank), "WORLD_SIZE": str(world), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for rank in range(world)]
    jobs[0].wait(120)
    for job in jobs[1:]:
        job.terminate()
        job.wait(120)
    return folder / "rank0.sonde"


def gloo(folder):
    return seconds_until_named(ranks_of_gloo(folder, 2, "hang.toml", (("--on-fire", "stop"), ())), {"rank 1"})


def gloo_with_a_job_folder(folder):
    """Of the other rules none may stop the job."""
    listed = json.loads(subprocess.run([SONDE, "rules", "--format", "json"], capture_output=True, text=True,
                                       check=True).stdout)["rules"]
    (folder / "all.toml").write_text(RULES + "".join(f'{rule["name"]} = "warning"\n' for rule in listed
                                                     if rule["name"] != "hang"))
    stop = ("--on-fire", "stop", "--job-dir", folder / "job")
    trace = ranks_of_gloo(folder, 4, "all.toml", (stop, stop))
    # All ranks were stopped, so the trace does not end with the hang: it began in iteration 12.
    with sqlite3.connect(f"file:{trace}?mode=ro", uri=True) as database:
        begin, = database.execute("SELECT start_ns FROM iteration WHERE number = 12").fetchone()
        notes = database.execute("SELECT ts_ns, text FROM note WHERE source = 'rule hang' ORDER BY ts_ns").fetchall()
    return (notes[0][0] - begin) / 1e9 if notes and notes[0][1].startswith("rank 1:") else None


def mpi(folder):
    subprocess.run([SONDE, "run", "-o", folder / "job.sonde", "--sources", "annotation,mpi", "--rules",
                    folder / "hang.toml", "--on-fire", "stop", "--", "mpirun.openmpi", "-n", "2",
                    TARGETS / "mpi_hang.openmpi"], env={**os.environ, **AS_ROOT}, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=120, check=False)
    return seconds_until_named(folder / "job.sonde", {"rank 0", "rank 1"})


def main():
    for kind in (gloo, mpi, gloo_with_a_job_folder):
        times = []
        for _ in range(ROUNDS):
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                (folder / "hang.toml").write_text(RULES)
                times.append(kind(folder))
        named = sorted(time for time in times if time is not None)
        print(f"{kind.__name__}: named {len(named)} of {ROUNDS}" +
              (f", after {named[0]:.1f} to {named[-1]:.1f} s, median {named[len(named) // 2]:.1f} s" if named else ""))


main()
