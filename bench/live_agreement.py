#!/usr/bin/env python3
"""Compares verdicts of rules live and offline on ten real runs.

    bench/live_agreement.py SONDE LIVE_AGREEMENT TARGETS

SONDE is the program, LIVE_AGREEMENT the program bench/live_agreement, and TARGETS the folder of test targets
(build/…/tests/targets). While a job is recorded, LIVE_AGREEMENT judges all rules again and again, by facts that grow with the
recording, and by facts that are read anew from the same state. Eight jobs are trainings in PyTorch with a fault or without, one
is data-parallel training over Gloo, and one uses MPI.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SONDE, COMPARE, TARGETS = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
PYTHON = "/usr/bin/python3"
SECONDS = 10
TRAINING = f"""
import os, sys, time, sonde, torch
kind = sys.argv[1]
torch.set_num_threads(1); torch.manual_seed(1)
world = int(os.environ.get("WORLD_SIZE", "1"))
if world > 1:
    torch.distributed.init_process_group("gloo")
model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))
if kind == "dead":
    torch.nn.init.constant_(model[0].bias, -1e3)
if world > 1:
    model = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=1e4 if kind == "explode" else 0.05)
class Data(torch.utils.data.Dataset):
    def __len__(self): return 10 ** 6
    def __getitem__(self, i):
        if kind == "loader": time.sleep(0.001)
        return torch.randn(32), i % 4
kept, begin = [], time.time()
for number, (inputs, labels) in enumerate(torch.utils.data.DataLoader(Data(), 16, num_workers=2 if kind == "workers" else 0)):
    if number == 400 or (world == 1 and time.time() - begin > {SECONDS}):
        break
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(inputs), labels)
    loss.backward()
    optimizer.step()
    if kind == "leak": kept.append(bytearray(2_000_000))
    if kind == "slower": time.sleep(0.002 if number < 100 else 0.03)
    if kind == "outliers" and number % 9 == 0: time.sleep(0.1)
    sonde.scalar("loss", loss.item())
    time.sleep(0.02)
"""
KINDS = ("healthy", "explode", "dead", "leak", "loader", "workers", "slower", "outliers")
RANKS = "for r in 0 1; do RANK=$r WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29641 {} job.py ranks & done; wait"
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
           "OMPI_MCA_hwloc_base_binding_policy": "none"}


def run(name, command, sources, folder):
    trace = folder / f"{name}.sonde"
    (folder / "sonde.toml").write_text('[rules]\nhang = "error"\n')
    with subprocess.Popen([COMPARE, f"{trace}.part"], stdout=subprocess.PIPE, text=True) as compare:
        subprocess.run([SONDE, "run", "-o", trace, "--sources", sources, "--rules", folder / "sonde.toml", "--on-fire", "stop",
                        "--", *command], cwd=folder, env={**os.environ, **AS_ROOT}, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=180, check=False)
        lines = compare.communicate(timeout=60)[0].splitlines()
    print("\n".join([*lines[:-1], f"{name:10} {lines[-1]}"]), flush=True)
    return json.loads(lines[-1])


def main():
    sources = "+system,+tensor"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "job.py").write_text(TRAINING)
        results = [run(kind, (PYTHON, "job.py", kind), sources, folder) for kind in KINDS]
        results.append(run("gloo", ("sh", "-c", RANKS.format(PYTHON)), sources, folder))
        results.append(run("mpi", ("mpirun.openmpi", "-n", "2", TARGETS / "mpi_hang.openmpi"), "annotation,mpi", folder))
    print({key: sum(each[key] for each in results) for key in results[0]})
    sys.exit(any(each["different"] for each in results))


main()
