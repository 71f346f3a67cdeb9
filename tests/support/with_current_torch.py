"""Runs a test's command where scripts/current_torch.sh has installed a PyTorch: FOLDER COMMAND…; else the test is skipped
(exit status 77) and says why."""
import os
import pathlib
import sys

folder, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
if not (folder / "bin/python").exists():
    declined = folder.with_suffix(".declined")
    why = declined.read_text().strip() if declined.exists() else "scripts/current_torch.sh installs it"
    print(f"not run: no current PyTorch in {folder}: {why}")
    sys.exit(77)
os.execvp(command[0], command)
