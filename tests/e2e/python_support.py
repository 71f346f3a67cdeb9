"""What the tests of the probe `python` share: recordings of programs that can import toysim."""
import os
import shutil

from run_support import TARGETS, RunTest

PYTHON = os.environ.get("SONDE_TORCH_PYTHON") or "/usr/bin/python3"


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
