"""The man pages that an installation has: one a verb, without a remark of groff's, with every option that --help names."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

SONDE = pathlib.Path(os.environ["SONDE_BIN"])
PAGES = SONDE.parent.parent / "share/man/man1"
GUI = SONDE.parent / "sonde-gui"


def said(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def verbs():
    return re.findall(r"^  (\w+)  +\S", said(SONDE, "--help").partition("Verbs:\n")[2].partition("\n\n")[0], re.M)


def shown(page):
    """As a reader sees it, without marks of bold type."""
    result = subprocess.run(["groff", "-Kutf8", "-Tutf8", "-ww", "-man", "-rLL=200n", "-P-cbou", str(page)],
                            check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
    return result.stdout.replace("\u2212", "-").replace("\u2010", "-"), result.stderr


def options(help_text):
    listed = help_text.partition("Options:\n")[2].partition("\n\n")[0]
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", "\n".join(line[:34] for line in listed.splitlines())))


class ManPages(unittest.TestCase):
    def test_there_is_one_for_every_verb_and_no_other(self):
        self.assertIn("run", verbs())
        self.assertEqual(sorted(page.name for page in PAGES.iterdir()),
                         sorted(["sonde.1", *(f"sonde-{verb}.1" for verb in verbs())]))

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_they_render_without_a_warning(self):
        for page in PAGES.iterdir():
            with self.subTest(page=page.name):
                text, remarks = shown(page)
                self.assertEqual(remarks, "")
                for heading in ("NAME", "SYNOPSIS", "OPTIONS", "EXAMPLES"):
                    self.assertRegex(text, f"(?m)^{heading}$")

    def test_they_list_the_options_of_the_help(self):
        for verb in verbs():
            page = (PAGES / f"sonde-{verb}.1").read_text().replace("\\-", "-")
            wanted = options(said(SONDE, verb, "--help"))
            self.assertIn("--help", wanted)
            for option in wanted:
                with self.subTest(verb=verb, option=option):
                    self.assertRegex(page, rf"(?m)^\.B (-\w, )?{option}(,| |$)")

    def test_they_show_the_examples_of_the_help(self):
        for verb in verbs():
            page = (PAGES / f"sonde-{verb}.1").read_text().replace("\\-", "-").replace("\\e", "\\")
            example = re.search(rf"(?m)^  sonde {verb} .*$", said(SONDE, verb, "--help")).group()
            self.assertIn(f"\n{example}\n", page.partition(".SH EXAMPLES")[2], verb)

    @unittest.skipUnless(GUI.exists(), "sonde-gui is not built")
    def test_the_page_of_gui_is_that_of_sonde_gui(self):
        page = (PAGES / "sonde-gui.1").read_text().replace("\\-", "-")
        for option in options(said(GUI, "--help")):
            self.assertRegex(page, rf"(?m)^\.B (-\w, )?{option}(,| |$)", option)
        statuses = [" ".join(re.findall(r"\b\d(?= )", text.partition("Exit status:")[2].partition(".\n")[0]))
                    for text in (page, said(GUI, "--help"))]
        self.assertEqual(statuses, ["0 1 2 3"] * 2)


if __name__ == "__main__":
    unittest.main()
