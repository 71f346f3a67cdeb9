"""The wheel: built from a copy of the checkout, it works where Sonde is not installed, and finds a library that is there."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import recorded

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        copy = pathlib.Path(cls.folder.name, "checkout")
        for part in ("collector/wire", "plugins/api", "plugins/python"):
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("build", "*.egg-info"))
        built = subprocess.run([sys.executable, "setup.py", "-q", "bdist_wheel", "-d", cls.folder.name],
                               cwd=copy / "plugins/python", capture_output=True, text=True, check=False)
        assert built.returncode == 0, built.stdout + built.stderr
        cls.wheel = next(pathlib.Path(cls.folder.name).glob("*.whl"))
        cls.installed = pathlib.Path(cls.folder.name, "installed")
        with zipfile.ZipFile(cls.wheel) as archive:
            archive.extractall(cls.installed)

    def test_is_for_every_python_from_3_9(self):
        self.assertRegex(self.wheel.name, r"^sonde-[\d.]+-cp39-abi3-linux_\w+\.whl$")
        files = sorted(path.name for path in (self.installed / "sonde").iterdir())
        self.assertEqual(["__init__.py", "__init__.pyi", "_absent.py", "_cost.py", "_decorator.py", "_native.py",
                          "_native_modules.py", "_sonde.abi3.so", "_tensor.py", "py.typed"],
                         files)

    def test_is_quiet_alone_and_records_under_a_library(self):
        program = "import sonde\nwith sonde.operation('x'):\n    print(sonde.operation.__module__)\n"
        for library, names in ((None, []), (recorded.LIBRARY, ["x"])):
            trace = recorded.run(program, library=library, environment={"PYTHONPATH": str(self.installed)})
            self.assertEqual((names, "sonde._sonde\n"), (trace.names("operation"), trace.stdout))

    def test_needs_an_old_glibc_only(self):
        symbols = subprocess.run(["nm", "-D", self.installed / "sonde/_sonde.abi3.so"], capture_output=True, text=True,
                                 env={**os.environ, "LC_ALL": "C"}, check=True).stdout
        versions = {tuple(map(int, word.partition("GLIBC_")[2].split("."))) for word in symbols.split()
                    if "@GLIBC_" in word}
        self.assertLessEqual(max(versions), (2, 28))
        self.assertNotIn("__cxa_throw", symbols)


if __name__ == "__main__":
    unittest.main()
