"""What the tests of the probe `python` share: recordings of programs that can import toysim."""
import os
import pathlib
import shutil
import subprocess

from run_support import TARGETS, RunTest

PYTHON = os.environ.get("SONDE_TORCH_PYTHON") or "/usr/bin/python3"


def pythons():
    """{minor version: program}"""
    names = [shutil.which("python3"), "/usr/bin/python3"] + [shutil.which(f"python3.{minor}") for minor in range(7, 20)]
    names += sorted(pathlib.Path.home().glob(".pyenv/versions/3.*/bin/python3"))
    found = {}
    for name in filter(None, names):
        told = subprocess.run([name, "-c", "import sys, threading, zlib; print(sys.version_info.minor)"], capture_output=True, text=True)
        if told.returncode == 0:
            found.setdefault(int(told.stdout), str(name))
    return found


class PythonTest(RunTest):
    def setUp(self):
        super().setUp()
        self.modules = self.folder / "modules"
        self.modules.mkdir()
        shutil.copy(TARGETS / "toysim.abi3.so", self.modules)
        self.environment["PYTHONPATH"] = str(self.modules)

    def record(self, *program, sources="annotation,python", more=(), status=0, **options):
        result = self.run_sonde(*program, options=("-f", "--sources", sources, *more), **options)
        self.assertEqual(result.returncode, status, result.stderr + result.stdout)
        return result.stdout
