"""What the fuzzer of the host covers, and pipelines and calls of the field: the same bare and under `sonde run`.

SONDE_BIN, SONDE_LIB and HOST_FUZZ name the built program, the folder of its libraries and the fuzzer's program.
"""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

SONDE = os.environ["SONDE_BIN"]
LIBRARIES = pathlib.Path(os.environ["SONDE_LIB"])
FUZZ = os.environ["HOST_FUZZ"]
ALL = "+io,+sync,+stack,+memory,+python"
PATIENCE = 60
# Functions of other libraries and of Sonde: only programs with one of these call them.
NOT_LIBC = re.compile(r"^(_ZN|cupti|nccl|Initialize|sonde_|GLIBC_)")


def exported(library):
    listing = subprocess.run(["nm", "-D", "--defined-only", LIBRARIES / library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in listing.splitlines()}


class Coverage(unittest.TestCase):
    def test_each_interposed_function_has_a_row(self):
        rows = set(subprocess.run([FUZZ, "names"], capture_output=True, text=True, check=True).stdout.split())
        for library in ("libsonde_preload.so", "libsonde_sync.so", "libsonde_memory.so", "libsonde_stack.so"):
            functions = {name for name in exported(library) if not NOT_LIBC.match(name)}
            self.assertEqual(functions - rows, set(), library)


class Pipelines(unittest.TestCase):
    """dash closes -1 in each of its pipelines."""

    COMMANDS = [["sh", "-c", "echo a | cat"],
                ["sh", "-c", "echo a | cat | tr a b; exit 3"],
                ["sh", "-c", "exec 3<&-; (echo b; exit 2) | cat >&2"],
                ["sh", "-c", "a=$(echo c | cat); echo $a; kill -9 $$"],
                ["python3", "-c", "import os; print(os.popen('echo d | cat').read(), os.system('exit 5'))"],
                ["python3", "-c", "import subprocess as s; print(s.run('echo e | cat', shell=True, close_fds=True, stdout=-1).stdout)"]]

    def outcome(self, command, *options):
        with tempfile.TemporaryDirectory() as folder:
            wrapped = [SONDE, "run", *options, "-o", f"{folder}/trace.sonde", "--"] if options else []
            done = subprocess.run([*wrapped, *command], capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
            error = "".join(line for line in done.stderr.splitlines(True) if not line.startswith("sonde run"))
            status = done.returncode if done.returncode >= 0 else 128 - done.returncode
            return status % 256, done.stdout, error

    def test_are_the_same(self):
        for command in self.COMMANDS:
            bare = self.outcome(command)
            for options in (["--sources", "+net"], ["--sources", ALL]):
                with self.subTest(command=command, options=options):
                    self.assertEqual(self.outcome(command, *options), bare)


if __name__ == "__main__":
    unittest.main()
