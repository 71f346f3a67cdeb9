"""Where Sonde's library in front of NCCL goes, and what becomes of a plugin of the user's own."""
import unittest

from nccl_support import NcclTest
from run_support import TARGETS


class UsersPlugin(NcclTest):
    FOLDER = str(TARGETS / "nccl-user-plugin")

    def check(self, **environment):
        result = self.job("each", **environment)
        self.assertEqual(result.stdout, 2 * "the user's plugin\n")
        self.assertEqual(self.rows("SELECT count(*), count(algorithm) FROM collective"), [(12, 0)])
        notes = " ".join(text for (text,) in self.rows("SELECT text FROM note"))
        self.assertIn("nccl records calls only: NCCL loads one profiler plugin, and this is another tool's: ", notes)
        self.assertIn("libnccl-profiler.so", notes)

    def test_one_of_the_default_name_keeps_its_place(self):
        self.check(LD_LIBRARY_PATH=self.FOLDER)

    def test_one_that_is_named_keeps_its_place(self):
        self.check(NCCL_PROFILER_PLUGIN=self.FOLDER + "/libnccl-profiler.so")


class Preloading(NcclTest):
    """libsonde_nccl.so goes where NCCL may be called, and nowhere else."""

    def mapped(self, *command):
        result = self.run_sonde(*command, options=("-f",))
        self.assertEqual(result.returncode, 0, result.stderr)
        return "libsonde_nccl.so" in result.stdout

    def test_programs_that_need_it_and_python(self):
        maps = ("cat", "/proc/self/maps")
        python = ("python3", "-c", "print(open('/proc/self/maps').read())")
        self.assertFalse(self.mapped(*maps))
        self.assertTrue(self.mapped(*python))
        self.assertTrue(self.mapped("sh", "-c", 'exec "$0" "$@"', *python))
        self.assertFalse(self.mapped("python3", "-c", "import os; os.execvp('cat', ['cat', '/proc/self/maps'])"))
        self.assertFalse(self.mapped("sh", "-c", "cat /proc/self/maps"))

    def test_without_nccl_its_functions_give_nccls_own_error(self):
        script = "import ctypes\nprint(ctypes.CDLL(None).ncclGroupStart())"
        result = self.run_sonde("python3", "-c", script, options=("-f",))
        self.assertEqual((result.returncode, result.stdout), (0, "2\n"), result.stderr)

    def test_an_nccl_that_python_loads_for_itself_alone_is_found(self):
        library = TARGETS.parent / "ncclsim" / "libnccl.so.2"
        script = (f"import ctypes\nctypes.CDLL('{library}', mode=ctypes.RTLD_LOCAL)\nnccl = ctypes.CDLL(None)\n"
                  "print(nccl.ncclGroupStart(), nccl.ncclGroupEnd())")
        result = self.run_sonde("python3", "-c", script, options=("-f",))
        self.assertEqual((result.returncode, result.stdout), (0, "0 0\n"), result.stderr)
        self.assertEqual(self.names("api"), {"ncclGroupEnd": 1})

    def test_an_nccl_that_is_loaded_later_takes_no_function_from_the_one_before(self):
        later = TARGETS.parent / "ncclsim" / "libnccl.so.2"
        for mode in ("LOCAL", "GLOBAL"):
            with self.subTest(mode):
                script = (f"import ctypes\nholder = ctypes.CDLL('{TARGETS}/libnccl_holder.so')\nprint(holder.holderStarts())\n"
                          f"ctypes.CDLL('{later}', mode=ctypes.RTLD_{mode})\nprint(holder.holderEnds())")
                result = self.run_sonde("python3", "-c", script, options=("-f",))
                self.assertEqual((result.returncode, result.stdout), (0, "0\n0\n"), result.stderr)


if __name__ == "__main__":
    unittest.main()
