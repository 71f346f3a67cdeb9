"""`sonde gui` becomes the sonde-gui that lies beside it, also when it is called by a link from elsewhere."""
import os
import pathlib
import shutil
import signal
import subprocess
import unittest

from run_support import SONDE, RunTest, wait_until

GUI = pathlib.Path(SONDE).with_name("sonde-gui")


class GuiStart(RunTest):
    def gui(self, program, *arguments, **environment):
        started = subprocess.Popen([str(program), "gui", *map(str, arguments)], stderr=subprocess.PIPE, text=True,
                                   env={**self.environment, "QT_QPA_PLATFORM": "offscreen", **environment})
        self.addCleanup(started.communicate)
        self.addCleanup(started.kill)
        return started

    def opened(self, process):
        """The files that it has open, or none when it has ended."""
        found = []
        for entry in pathlib.Path(f"/proc/{process.pid}/fd").glob("*"):
            try:
                found.append(os.readlink(entry))
            except OSError:  # closed in between
                pass
        return found

    @unittest.skipUnless(GUI.exists(), "sonde-gui is not built")
    def test_opens_the_trace_until_it_is_ended(self):
        self.assertEqual(self.run_sonde("true").returncode, 0)
        link = self.folder / "sonde"
        link.symlink_to(SONDE)
        process = self.gui(link, self.output)
        wait_until(lambda: process.poll() is not None or str(self.output) in self.opened(process), "it reads the trace")
        self.assertIsNone(process.poll())
        self.assertEqual(os.path.realpath(f"/proc/{process.pid}/exe"), str(GUI.resolve()))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), -signal.SIGTERM)

    @unittest.skipUnless(GUI.exists(), "sonde-gui is not built")
    def test_a_signal_leaves_nothing_of_the_ranks_that_were_joined(self):
        ranks = [self.folder / f"rank{number}.sonde" for number in range(2)]
        meet = "touch met$RANK; while ! [ -e met0 -a -e met1 ]; do sleep 0.01; done"
        recordings = [subprocess.Popen([SONDE, "run", "-o", str(path), "--", "sh", "-c", meet], cwd=self.folder,
                                       env={**self.environment, "RANK": str(number), "WORLD_SIZE": "2"},
                                       stderr=subprocess.DEVNULL)
                      for number, path in enumerate(ranks)]
        self.assertEqual([recording.wait(60) for recording in recordings], [0, 0])
        for ending in (signal.SIGINT, signal.SIGTERM):
            temporary = self.folder / ending.name
            temporary.mkdir()
            process = self.gui(SONDE, *ranks, TMPDIR=str(temporary))
            wait_until(lambda: process.poll() is not None or any("job.sonde" in path for path in self.opened(process)),
                       "it reads the joined ranks")
            self.assertIsNone(process.poll())
            process.send_signal(ending)
            self.assertEqual(process.wait(60), -ending)
            self.assertEqual(list(temporary.rglob("*job.sonde*")), [])

    @unittest.skipUnless(GUI.exists(), "sonde-gui is not built")
    def test_hands_its_options_on(self):
        self.assertEqual(self.run_sonde("true").returncode, 0)
        picture = self.folder / "picture.png"
        process = self.gui(SONDE, self.output, "--screenshot", picture, "--size", "640x480", "--theme", "dark")
        self.assertEqual(process.wait(60), 0, process.stderr.read())
        header = picture.read_bytes()[:24]
        self.assertEqual((header[1:4], header[16:24]), (b"PNG", b"\0\0\x02\x80\0\0\x01\xe0"))

    def test_says_what_to_do_when_there_is_none(self):
        alone = self.folder / "bin"
        alone.mkdir()
        shutil.copy(SONDE, alone / "sonde")
        process = self.gui(alone / "sonde", "x.sonde")
        self.assertEqual(process.wait(60), 3)
        self.assertEqual(process.stderr.read(),
                         f"sonde gui: cannot start {alone}/sonde-gui: No such file or directory: "
                         "build it with -DSONDE_GUI=ON, or install sonde-gui beside sonde\n")


if __name__ == "__main__":
    unittest.main()
