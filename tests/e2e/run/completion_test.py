"""The completion scripts that an installation has: bash's is asked, zsh's and fish's are read by their shells."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SONDE = pathlib.Path(os.environ["SONDE_BIN"])
SHARE = SONDE.parent.parent / "share"
BASH = SHARE / "bash-completion/completions/sonde"

# Completes the given words; the last one is being typed.
ASK = """set -u
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
_sonde
printf '%s\\n' "${COMPREPLY[@]}"
"""


class Completion(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("a b.sonde", "rank0.sonde", "rank1.sonde.part", "notes.txt"):
            (self.folder / name).touch()
        (self.folder / "out").mkdir()

    def ask(self, *words):
        found = subprocess.run(["bash", "-c", ASK, "bash", str(BASH), "sonde", *words], cwd=self.folder,
                               capture_output=True, text=True, check=False)
        self.assertEqual((found.returncode, found.stderr), (0, ""))
        return set(found.stdout.split("\n")) - {""}

    def test_verbs(self):
        self.assertEqual(self.ask("re"), {"report", "recover", "replay"})
        listed = subprocess.run([SONDE, "--help"], capture_output=True, text=True, check=True).stdout
        self.assertGreater(len(self.ask("")), 10)
        for verb in self.ask("") - {"--help", "--version"}:
            self.assertIn(f"\n  {verb} ", listed)

    def test_options(self):
        self.assertEqual(self.ask("run", "--spool"), {"--spool", "--spool-limit"})
        self.assertEqual(self.ask("merge", "-"), {"-h", "--help", "-o", "--output", "-f", "--force", "--summary"})

    def test_values(self):
        self.assertEqual(self.ask("check", "rank0.sonde", "--format", ""), {"text", "json", "junit", "sarif", "github"})
        self.assertEqual(self.ask("run", "--spool", ""), {"out"})
        self.assertEqual(self.ask("check", "--rules", "n"), {"notes.txt"})
        self.assertEqual(self.ask("run", "--spool-limit", ""), set())
        self.assertEqual(self.ask("completion", ""), {"bash", "zsh", "fish"})
        self.assertEqual(self.ask("man", "do"), {"doctor"})

    def test_traces_and_the_folders_on_the_way(self):
        self.assertEqual(self.ask("report", ""), {"a b.sonde", "rank0.sonde", "rank1.sonde.part", "out"})
        self.assertEqual(self.ask("report", "a b.sonde", "rank0"), {"rank0.sonde"})

    def test_the_command_behind_run(self):
        self.assertIn("python3", self.ask("run", "-o", "out/", "--", "python"))
        self.assertEqual(self.ask("run", "--", "python3", "no"), {"notes.txt"})

    def test_the_other_shells_can_read_theirs(self):
        for shell, script in (("zsh", "zsh/site-functions/_sonde"), ("fish", "fish/vendor_completions.d/sonde.fish")):
            text = (SHARE / script).read_text()
            for word in ("report", "spool-limit", "text json", "bash zsh fish"):
                self.assertIn(word, text, shell)
            if shutil.which(shell):
                subprocess.run([shell, "-n", str(SHARE / script)], check=True)

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish(self):
        script = SHARE / "fish/vendor_completions.d/sonde.fish"
        for line, wanted in (("sonde re", {"report", "recover"}),
                             ("sonde check --format ", {"text", "json", "junit", "sarif", "github"}),
                             ("sonde run --spool-", {"--spool-limit"}), ("sonde man do", {"doctor"})):
            found = subprocess.run(["fish", "-c", f"source {script}; complete -C '{line}'"], cwd=self.folder,
                                   capture_output=True, text=True, check=True).stdout
            self.assertEqual({word.partition("\t")[0] for word in found.splitlines()}, wanted)


if __name__ == "__main__":
    unittest.main()
