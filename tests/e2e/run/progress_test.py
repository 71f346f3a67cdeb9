"""Long work shows how far it is on a terminal and nowhere else, and leaves nothing behind when Ctrl-C ends it."""
import os
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import termios
import unittest

from run_support import SONDE, RunTest, kill_quietly, wait_until

PYTHON = pathlib.Path(SONDE).parent.parent / "lib/sonde/python"
# The ranks meet, so their recordings overlap.
JOB = """import os, pathlib, sonde, time
folder, rank = pathlib.Path(os.environ["TMPDIR"]), os.environ.get("RANK", "")
(folder / f"met{rank}").touch()
while rank and not all((folder / f"met{each}").exists() for each in "01"):
    time.sleep(0.01)
for number in range(40):
    with sonde.iteration(), sonde.operation("step"):
        sonde.scalar("loss", 1 / (1 + number))
"""
ERASE = "\r\x1b[K"
EVENT = '{{"ph": "X", "cat": "cpu_op", "name": "op{0}", "pid": 1, "tid": 2, "ts": {0}, "dur": 1, "args": {{"n": {0}}}}}'


class Terminal:
    """A terminal that a program has as its stderr."""

    def __init__(self):
        self.master, self.slave = pty.openpty()

    def read(self, process):
        """All that the program writes until it ends."""
        text = b""
        while True:
            if select.select([self.master], [], [], 0.05)[0]:
                text += os.read(self.master, 65536)
            elif process.poll() is not None:
                return text.decode()

    def hold(self):
        """As Ctrl-S: who writes waits."""
        termios.tcflow(self.slave, termios.TCOOFF)

    def release(self):
        termios.tcflow(self.slave, termios.TCOON)

    def close(self):
        os.close(self.master)
        os.close(self.slave)


class ProgressTest(RunTest):
    def setUp(self):
        super().setUp()
        self.environment.update(PYTHONPATH=str(PYTHON), SONDE_PROGRESS="now", TERM="xterm", TMPDIR=str(self.folder))
        self.traces = [str(self.folder / f"rank{rank}.sonde") for rank in "01"]
        ranks = [subprocess.Popen([SONDE, "run", "-o", trace, "--", "/usr/bin/python3", "-c", JOB],
                                  stderr=subprocess.PIPE, text=True,
                                  env={**self.environment, "RANK": str(rank), "WORLD_SIZE": "2"})
                 for rank, trace in enumerate(self.traces)]
        for rank in ranks:
            said = rank.communicate(timeout=60)[1]
            self.assertEqual(rank.returncode, 0, said)
            self.assertNotIn("\x1b", said)
        self.before = self.listing()
        self.terminal = Terminal()
        self.addCleanup(self.terminal.close)

    def listing(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))

    def events(self, count):
        """A file of torch.profiler's."""
        path = self.folder / "t.json"
        path.write_text('{"traceEvents": [' + ",\n".join(map(EVENT.format, range(count))) + "]}")
        self.before = self.listing()
        return path

    def start(self, *words, **environment):
        process = subprocess.Popen([SONDE, *map(str, words)], stdout=subprocess.DEVNULL, stderr=self.terminal.slave,
                                   cwd=self.folder, env={**self.environment, **environment})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def killed_session(self):
        """A recording whose recorder was killed."""
        recorder = self.start_sonde("/usr/bin/python3", "-c", JOB + "import time; time.sleep(60)")
        part = self.folder / "out.sonde.part"
        sessions = lambda: list(self.spool.glob("sonde-*/*/manifest.json"))
        wait_until(lambda: part.exists() and part.stat().st_size > 0 and sessions(), "it records")
        children = pathlib.Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text().split()
        recorder.kill()
        for pid in children:
            kill_quietly(int(pid))
        recorder.communicate()
        return sessions()[0].parent


class OnATerminal(ProgressTest):
    def assert_bar(self, words, *said, bars=1):
        process = self.start(*words)
        text = self.terminal.read(process)
        self.assertEqual(process.returncode, 0, text)
        frames = text.split(ERASE)
        shares = [int(frame.rstrip("%").rpartition("]")[2]) for frame in frames if frame.endswith("%")]
        self.assertGreater(len(shares), 1, text)
        self.assertLess(sum(after < before for before, after in zip(shares, shares[1:])), bars, shares)
        self.assertLessEqual(shares[-1], 100)
        self.assertLess(max(map(len, (frame for frame in frames if frame.endswith("%")))), 80)
        for what in said:
            self.assertIn(f"sonde {words[0]}: {what}", text)
        # The last frame is erased; a verb's own output is on a separate line.
        rest = frames[-1]
        self.assertTrue(rest == "" or rest.endswith("\n"), text)
        return rest

    def test_verbs_that_may_take_long(self):
        self.assert_bar(("merge", "-o", "job.sonde", *self.traces), "rank1.sonde: slice", "building indexes")
        self.assert_bar(("trim", "job.sonde", "-o", "small.sonde", "--iterations", "3-5"), "cutting", "packing")
        self.assert_bar(("check", *self.traces), "rank0.sonde: slice", "loss-not-decreasing", bars=2)
        self.assert_bar(("report", *self.traces), "joining the ranks")

    def test_import(self):
        path = self.events(20_000)
        size = path.stat().st_size / 1e6
        self.assert_bar(("import", "-o", "imported.sonde", path), f"t.json: 1.0 of {size:.1f} MB",
                        f"t.json: {size:.1f} of {size:.1f} MB", "t.json: pairing begins", "t.json: nesting slices",
                        "t.json: joining kernels", "joining the ranks", "building indexes")

    def test_the_end_of_run(self):
        said = self.assert_bar(("run", "-o", "other.sonde", "--", "true"), "storing the remaining records", "building overviews")
        self.assertIn("wrote other.sonde", said)

    def test_recover(self):
        session = self.killed_session()
        self.assert_bar(("recover", session, "-o", "copy.sonde"), "building indexes")
        self.assert_bar(("recover", session), "storing the remaining records", "building indexes")

    def test_not_where_it_cannot_be_drawn_or_is_not_wanted(self):
        for environment in ({"TERM": "dumb"}, {"SONDE_PROGRESS": "off"}):
            process = self.start("merge", "-f", "-o", "job.sonde", *self.traces, **environment)
            self.assertEqual(self.terminal.read(process), "")


class InAPipe(ProgressTest):
    def test_nothing_is_written(self):
        for words in (("merge", "-o", "job.sonde", *self.traces),
                      ("trim", "job.sonde", "-o", "small.sonde", "--iterations", "3-5"),
                      ("check", *self.traces)):
            result = subprocess.run([SONDE, *words], capture_output=True, text=True, env=self.environment,
                                    cwd=self.folder)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertNotIn("\x1b", result.stdout)


class Interrupted(ProgressTest):
    def interrupt(self, *words):
        """Ends it by Ctrl-C while it waits for the terminal, with its output begun."""
        self.terminal.hold()
        process = self.start(*words)
        begun = lambda: [path for path in self.listing() if path not in self.before]
        wait_until(lambda: any(path.endswith(".part") for path in begun()), "it writes")
        process.send_signal(signal.SIGINT)
        self.terminal.release()
        self.terminal.read(process)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertEqual(begun(), [])

    def test_merge(self):
        self.interrupt("merge", "-o", "job.sonde", *self.traces)

    def test_import(self):
        self.interrupt("import", "-o", "imported.sonde", self.events(10))

    def test_import_that_is_storing(self):
        path = self.events(100_000)
        part = self.folder / "imported.sonde.part"
        for ending in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(ending=ending):
                process = self.start("import", "-o", "imported.sonde", path, SONDE_PROGRESS="off")
                wait_until(lambda: part.exists() and part.stat().st_size > 1_000_000, "it stores")
                process.send_signal(ending)
                self.assertEqual(process.wait(), -ending)
                self.assertEqual(self.listing(), self.before)

    def test_the_merge_behind_a_report(self):
        self.interrupt("report", *self.traces)

    def test_recover_to_a_file_of_its_own(self):
        session = self.killed_session()
        self.before = self.listing()
        self.interrupt("recover", session, "-o", "copy.sonde")

    def test_trim(self):
        # Its first report comes before the file, so the moment is uncertain: repeats until one was interrupted.
        for _ in range(50):
            process = self.start("trim", self.traces[0], "-f", "-o", "small.sonde", "--iterations", "3-35",
                                 SONDE_PROGRESS="off")
            part = self.folder / "small.sonde.part"
            while process.poll() is None and not part.exists():
                pass
            process.send_signal(signal.SIGINT)
            if process.wait() == -signal.SIGINT:
                break
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertEqual([path for path in self.listing() if path not in [*self.before, "small.sonde"]], [])

    def test_export_of_ranks(self):
        # It writes after the ranks were joined, which used the terminal before: repeats until one was interrupted.
        for form in ("perfetto", "chrome", "csv", "folded"):
            for _ in range(50):
                process = self.start("export", *self.traces, "--to", form, "-f", "-o", form, SONDE_PROGRESS="off")
                part = self.folder / f"{form}.part"
                while process.poll() is None and not part.exists():
                    pass
                process.send_signal(signal.SIGINT)
                if process.wait() == -signal.SIGINT:
                    break
                shutil.rmtree(self.folder / form, ignore_errors=True)  # of a folder that is there, .part is in it
            self.assertEqual(process.returncode, -signal.SIGINT, form)
            self.before.append(form)
            self.assertEqual([path for path in self.listing() if path not in self.before], [], form)

    def test_export_of_tables(self):
        self.interrupt("export", self.traces[0], "--to", "csv", "-o", "tables")

    def test_export_of_tables_into_a_folder_that_is_there(self):
        whole = self.folder / "whole"
        subprocess.run([SONDE, "export", self.traces[0], "--to", "csv", "-o", whole], check=True)
        all_tables = {path.name for path in whole.iterdir()}
        there = self.folder / "tables"
        there.mkdir()
        (there / "slice.csv").write_text("mine")
        self.before = self.listing()
        # Repeats until one was interrupted with files of its own. One that is just renaming them ends afterwards, so none of them
        # is incomplete.
        for _ in range(50):
            process = self.start("export", self.traces[0], "--to", "csv", "-f", "-o", "tables", SONDE_PROGRESS="off")
            while process.poll() is None and not any(there.glob(".part/*.csv")):
                pass
            process.send_signal(signal.SIGINT)
            process.wait()
            if (there / "slice.csv").read_text() == "mine":
                break
            self.assertEqual({path.name for path in there.iterdir()}, all_tables)
            for path in there.iterdir():
                path.unlink()
            (there / "slice.csv").write_text("mine")
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertEqual(self.listing(), self.before)

    def test_what_is_somebody_elses_stays(self):
        part = self.folder / "job.sonde.part"
        part.write_text("somebody else's")
        for words in (("merge", *self.traces), ("trim", self.traces[0], "--iterations", "3-5"),
                      ("import", self.events(10))):
            process = self.start(*words, "-o", "job.sonde")
            self.terminal.read(process)
            self.assertEqual((process.returncode, part.read_text()), (2, "somebody else's"))


if __name__ == "__main__":
    unittest.main()
