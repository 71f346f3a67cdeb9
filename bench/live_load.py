#!/usr/bin/env python3
"""How soon a rule fires beside many events.

    bench/live_load.py SONDE TARGETS [SECONDS]

A job with one recorder: one process iterates every 10 ms and reports a loss, which becomes NaN in the middle. Beside it, another
process records annotations as fast as half a million events a second. All rules judge while it runs. Prints the rate of stored
events, the records that were lost, and the time from the NaN to the finding, for the load and without it.
"""
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

SONDE, TARGETS = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
SECONDS = float(sys.argv[3]) if len(sys.argv) > 3 else 20
JOB = f"""
import time, sonde
begin, bad = time.time(), None
while time.time() - begin < {SECONDS}:
    with sonde.iteration():
        time.sleep(0.01)
        isBad = time.time() - begin > {SECONDS} / 2
        sonde.scalar("loss", float("nan") if isBad else 2 - (time.time() - begin) / {SECONDS})
"""


def rules():
    names = [rule["name"] for rule in json.loads(subprocess.run([SONDE, "rules", "--format", "json"], capture_output=True,
                                                                text=True, check=True).stdout)["rules"]]
    return "[rules]\n" + "".join(f'{name} = "warning"\n' for name in names)


def measure(folder, load):
    trace = folder / "x.sonde"
    burst = f"{TARGETS}/annotation_burst {int(190_000 * SECONDS)} 3 10 & " if load else ""  # 3 threads, each 190,000 a second
    subprocess.run([SONDE, "run", "-f", "-o", trace, "--rules", folder / "sonde.toml", "--", "sh", "-c",
                    f"{burst}/usr/bin/python3 job.py; wait"], cwd=folder, check=True, env=dict(os.environ),
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with sqlite3.connect(f"file:{trace}?mode=ro", uri=True) as database:
        one = lambda query: database.execute(query).fetchone()[0]  # noqa: E731
        nan = one("SELECT min(ts_ns) FROM scalar WHERE value IS NULL")
        found = one("SELECT min(ts_ns) FROM note WHERE source = 'rule loss-not-decreasing' AND text LIKE '%nan%'")
        return {"events_per_s": round(one("SELECT count(*) FROM slice") / SECONDS),
                "lost": one("SELECT coalesce(sum(count), 0) FROM loss"),
                "seconds_to_finding": round((found - nan) / 1e9, 2) if found and nan else None}


with tempfile.TemporaryDirectory() as name:
    (pathlib.Path(name) / "job.py").write_text(JOB)
    (pathlib.Path(name) / "sonde.toml").write_text(rules())
    for load in (False, True):
        print("load " if load else "quiet", measure(pathlib.Path(name), load), flush=True)
