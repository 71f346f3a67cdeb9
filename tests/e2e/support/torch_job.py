"""Training programs with and without Sonde: starts the ranks of a job and opens the traces they leave.

SONDE_BIN names the built program, SONDE_TORCH_PYTHON a Python with torch.
"""
import os
import pathlib
import socket
import sqlite3
import subprocess

SONDE = os.environ["SONDE_BIN"]
PYTHON = os.environ.get("SONDE_TORCH_PYTHON", "/usr/bin/python3")
ROOT = pathlib.Path(__file__).resolve().parents[3]
PATIENCE = 300


def environment(spool=None, **more):
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith(("SONDE_S", "RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_", "LD_PRELOAD", "PYTHONPATH"))}
    return {**kept, **({"SONDE_SPOOL": str(spool)} if spool else {}), **more}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def run_ranks(command, world=2, recorder=(), **more):
    """Runs a command once per rank at the same time; the finished processes in order of rank."""
    port, running = free_port(), []
    for rank in range(world):
        identity = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(world), "MASTER_ADDR": "127.0.0.1",
                    "MASTER_PORT": port}
        running.append(subprocess.Popen([*recorder, *command], env=environment(**more, **identity), text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    finished = []
    for process in running:
        out, err = process.communicate(timeout=PATIENCE)
        finished.append(subprocess.CompletedProcess(process.args, process.returncode, out, err))
    return finished


def sonde(*arguments, **options):
    return subprocess.run([SONDE, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE, check=False,
                          **options)


class Trace:
    """A finished trace, for plain SQL."""

    def __init__(self, path):
        self.database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)

    def rows(self, query, *values):
        return self.database.execute(query, values).fetchall()

    def column(self, query, *values):
        return [row[0] for row in self.rows(query, *values)]

    def value(self, query, *values):
        return self.rows(query, *values)[0][0]
