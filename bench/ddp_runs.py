"""Runs of bench/ddp_job.py under Sonde: each rank on a processor of its own, and if asked, with links of a given speed."""
import contextlib
import os
import pathlib
import socket
import subprocess

JOB = pathlib.Path(__file__).with_name("ddp_job.py")
PYTHON = os.environ.get("SONDE_TORCH_PYTHON", "/usr/bin/python3")
PATIENCE = 600


def sonde(binary, *arguments):
    return subprocess.run([binary, *map(str, arguments)], check=True, capture_output=True, text=True, timeout=PATIENCE).stdout


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@contextlib.contextmanager
def links(world, rates, default):
    """Network namespaces, one for each rank, joined by a bridge. What rank r sends passes a link of rates[r], or `default`; None is
    as fast as the machine. Needs root."""
    name = f"sonde{os.getpid()}"
    spaces = [f"{name}-{rank}" for rank in range(world)]
    hub = f"{name}-hub"
    try:
        ip("netns", "add", hub)
        ip("-n", hub, "link", "add", "bridge", "type", "bridge")
        ip("-n", hub, "link", "set", "bridge", "up")
        for rank, space in enumerate(spaces):
            ip("netns", "add", space)
            ip("-n", space, "link", "set", "lo", "up")
            ip("-n", space, "link", "add", "rank", "type", "veth", "peer", "name", f"hub{rank}", "netns", hub)
            ip("-n", space, "address", "add", f"10.99.0.{rank + 1}/24", "dev", "rank")
            ip("-n", space, "link", "set", "rank", "up")
            ip("-n", hub, "link", "set", f"hub{rank}", "master", "bridge", "up")
            rate = rates.get(rank, default)
            if rate:
                subprocess.run(["tc", "-n", space, "qdisc", "add", "dev", "rank", "root", "tbf", "rate", rate, "burst", "64kb",
                                "latency", "50ms"], check=True, capture_output=True)
        yield spaces
    finally:
        for space in [*spaces, hub]:
            subprocess.run(["ip", "netns", "del", space], check=False, capture_output=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def run_job(binary, folder, world, options, namespaces=None, pinned=True, variables=(), recorded=()):
    """Records the job; the path of the merged trace. `namespaces`: one for each rank, as of links(). `pinned`: each rank has one
    processor. `variables`: pairs for the environment. `recorded`: options of `sonde run`."""
    folder.mkdir(parents=True, exist_ok=True)
    processors = sorted(os.sched_getaffinity(0))
    port, ranks, traces = free_port(), [], []
    for rank in range(world):
        network = {"MASTER_ADDR": "10.99.0.1", "GLOO_SOCKET_IFNAME": "rank"} if namespaces else {"MASTER_ADDR": "127.0.0.1"}
        environment = {**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(world),
                       "LOCAL_WORLD_SIZE": str(world), "MASTER_PORT": port, **network, **dict(variables)}
        traces.append(folder / f"rank{rank}.sonde")
        inside = ["ip", "netns", "exec", namespaces[rank]] if namespaces else []
        place = ["taskset", "-c", str(processors[rank % len(processors)])] if pinned else []
        command = [*place, binary, "run", "--force", *recorded, "-o", traces[-1], "--",
                   PYTHON, JOB, *options]
        with open(folder / f"rank{rank}.log", "w", encoding="utf-8") as log:
            ranks.append(subprocess.Popen([*inside, *map(str, command)], env=environment, stdout=log, stderr=log))
    failed = [rank for rank, process in enumerate(ranks) if process.wait(timeout=PATIENCE)]
    if failed:
        raise RuntimeError(f"rank {failed[0]} failed:\n" + (folder / f"rank{failed[0]}.log").read_text(encoding="utf-8")[-2000:])
    job = folder / "job.sonde"
    sonde(binary, "merge", "--force", "-o", job, *traces)
    return job
