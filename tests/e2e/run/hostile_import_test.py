"""What `sonde import` does with files that are not as they should be: it says what and where, or imports the good part
and counts the rest; it never crashes, hangs or takes memory without bound.
"""
import gzip
import json
import os
import pathlib
import resource
import sqlite3
import subprocess
import tempfile
import unittest

from run_support import SONDE

MOST_MEMORY = 600 << 20  # of address space; the program itself takes less than half of that

HEAD = '{"schemaVersion": 1, "traceEvents": ['
GOOD = ('{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 2, "ts": 100.001, "dur": 10.5, '
        '"args": {"External id": 7}}')


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


class HostileImport(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)
        self.trace = self.folder / "t.sonde"

    def file(self, content, name="trace.json"):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def sonde_import(self, *files):
        self.trace.unlink(missing_ok=True)
        done = subprocess.run([SONDE, "import", "-o", self.trace, *files], capture_output=True, text=True,
                              timeout=120, preexec_fn=limited, errors="replace")
        self.assertIn(done.returncode, (0, 2, 3), done.stderr)
        left = sorted(path.name for path in self.folder.iterdir() if path.name.startswith("t.sonde"))
        self.assertEqual(left, ["t.sonde"] if done.returncode == 0 else [], done.stderr)
        return done

    def refused(self, path, *words):
        done = self.sonde_import(path)
        self.assertEqual(done.returncode, 3, done.stderr)
        for word in (str(path), *words):
            self.assertIn(word, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def imported(self, path, slices, *words):
        """The good part is there, and what was not is said."""
        done = self.sonde_import(path)
        self.assertEqual(done.returncode, 0, done.stderr)
        trace = sqlite3.connect(f"file:{self.trace}?mode=ro", uri=True)
        self.assertEqual(trace.execute("SELECT count(*) FROM slice").fetchone()[0], slices)
        self.assertEqual(trace.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        trace.close()
        for word in words:
            self.assertIn(word, done.stderr)

    def least_start(self):
        trace = sqlite3.connect(f"file:{self.trace}?mode=ro", uri=True)
        least, = trace.execute("SELECT min(start_ns) FROM slice").fetchone()
        trace.close()
        return least

    def events(self, *events):
        return self.file(HEAD + ",\n".join([*events, GOOD]) + "]}")

    def test_what_is_no_file(self):
        self.refused(self.folder, "is a folder")
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        self.refused(fifo)
        self.refused(self.folder / "missing", "does not exist: check the name")
        self.refused(pathlib.Path("/dev/zero"), "not a regular file")
        self.refused(self.file(""))
        self.refused(self.file(b"\0" * 4096))
        self.refused(self.file("hello, world"), "byte 0")

    def test_what_is_no_trace(self):
        for text in ("[]", "{}", "[1, 2]", '{"traceEvents": 7}', '{"traceEvents": {}}', "null", '"text"', "]", "{]",
                     '{"a": 1', "[" * 10, '{"traceEvents": [[[]]]}'):
            with self.subTest(text=text):
                self.refused(self.file(text))

    def test_values_of_other_types(self):
        fields = {"ph": "X", "cat": "cpu_op", "name": "n", "pid": 1, "tid": 2, "ts": 1.5, "dur": 2, "id": 3,
                  "args": {"correlation": 1, "stream": 7, "device": 0, "grid": [1, 1, 1]}}
        values = [None, True, "text", "", -1, 1.5, 1e300, -1e300, 10 ** 30, [], [[]], {}, {"a": {"b": []}}]
        events = []
        for phase in "XBEbensftCiMIR":
            for name in fields:
                for value in values:
                    events.append(json.dumps({**fields, "ph": phase, name: value}))
        for name in fields["args"]:
            for value in values:
                events.append(json.dumps({**fields, "cat": "kernel", "args": {**fields["args"], name: value}}))
        done = self.sonde_import(self.events(*events))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_numbers_that_json_has_not(self):
        for number in ("NaN", "Infinity", "-Infinity", "0x10", "1e", "--1", "1.2.3", ".5", "+1"):
            with self.subTest(number=number):
                self.imported(self.events(GOOD.replace("100.001", number)), 1, "trace.json")
        for number in ("1e300", "-1e300", "1e-300", "9223372036854775807", "1" * 400):
            with self.subTest(number=number):
                done = self.sonde_import(self.events(GOOD.replace("100.001", number)))
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_times_at_the_ends_of_what_fits(self):
        most = 9223372036854775
        self.imported(self.events(GOOD.replace("100.001", str(most)).replace("10.5", str(most)),
                                  GOOD.replace("100.001", str(-most)).replace("10.5", str(most))), 1, "2 events have no readable time")

    def test_a_base_at_the_ends_of_what_fits(self):
        for base in (9_200_000_000_000_000_000, -9_200_000_000_000_000_000):
            for time in ("9223372036854775.807", "2305843009213693.951", "-2305843009213693.951"):
                with self.subTest(base=base, time=time):
                    # Either no time at all, or one that is weeks away from all others and does not belong to this trace.
                    events = GOOD, GOOD, GOOD.replace("100.001", time).replace("10.5", "0")
                    self.imported(self.file(HEAD + ",".join(events) + f'], "baseTimeNanoseconds": {base}}}'),
                                  2, "baseTimeNanoseconds",
                                  "no readable time" if time.startswith("9") else "weeks from all others")
                    self.assertEqual(self.least_start(), 100001)

    def test_negative_durations(self):
        self.imported(self.events(GOOD.replace("10.5", "-10.5")), 2, "negative")

    def test_duplicate_ids(self):
        start = '{"ph": "s", "id": 5, "pid": 1, "tid": 2, "ts": 101, "cat": "fwdbwd", "name": "fwdbwd"}'
        end = start.replace('"s"', '"f"', 1)
        begin = '{"ph": "b", "id": 5, "pid": 1, "tid": 2, "ts": 101, "cat": "c", "name": "n"}'
        kernel = GOOD.replace("cpu_op", "kernel").replace('"External id": 7', '"correlation": 9, "stream": 7, "device": 0')
        self.imported(self.events(*[start] * 50, *[end] * 50, *[begin] * 50, *[kernel] * 50), 51)

    def test_nesting_of_a_million(self):
        for pair in ("[]", "{}"):
            deep = ('{"a":' if pair == "{}" else "[") * 1_000_000 + "1" + pair[1] * 1_000_000
            with self.subTest(pair=pair):
                self.imported(self.events(GOOD.replace("7}", deep + "}")), 2)
                self.imported(self.events(GOOD.replace('"aten::add"', deep)), 2)
                self.imported(self.events(deep), 1, "byte" if pair == "[]" else "")
                self.imported(self.file('{"other": ' + deep + ', "traceEvents": [' + GOOD + "]}"), 1)
                self.refused(self.file('{"other": ' + deep[:1_000_000] + ', "traceEvents": [' + GOOD + "]}"), "byte")

    def test_names_that_are_no_text(self):
        for name in (b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\x80", b"a\0b", b"\\ud800", b"\\u0000", b"\x01"):
            with self.subTest(name=name):
                self.imported(self.file((HEAD + GOOD + ",").encode() + GOOD.encode().replace(b"aten::add", name) + b"]}"), 2)

    def test_a_name_without_end(self):
        self.refused(self.file(HEAD + GOOD.replace("aten::add", "a" * (200 << 20)) + "]}"), "byte")

    def test_gzip_bombs(self):
        with gzip.open(self.folder / "spaces.json.gz", "wb", 1) as out:
            out.write((HEAD + GOOD).encode())
            for _ in range(64):
                out.write(b" " * (16 << 20))
            out.write(b"]}")
        self.refused(self.folder / "spaces.json.gz", "too long at byte")
        with gzip.open(self.folder / "name.json.gz", "wb", 1) as out:
            out.write((HEAD + GOOD[:-40]).encode())
            for _ in range(64):
                out.write(b"a" * (16 << 20))
        self.refused(self.folder / "name.json.gz", "too long at byte")

    def test_bombs_in_what_is_read_beside_the_events(self):
        many = 30 << 20
        bombs = {"deep": b"[" * many + b"]" * many, "flat": b"[" + b"0," * many + b"0]",
                 "objects": b'{"pg_config": [' + b"{}," * (many // 2) + b"{}]}"}
        for key in ("distributedInfo", "deviceProperties"):
            for kind, bomb in bombs.items():
                with self.subTest(key=key, kind=kind):
                    text = (HEAD + GOOD + f'], "{key}": ').encode() + bomb + b"}"
                    self.imported(self.file(gzip.compress(text, 1), "bomb.json.gz"), 1, f"{key} has ", "was left out")
        counter = b'{"ph": "C", "name": "c", "pid": 1, "ts": 1, "args": {"a": '
        for kind in ("deep", "flat"):
            with self.subTest(key="args", kind=kind):
                text = (HEAD + GOOD + ",").encode() + counter + bombs[kind][:-1] + b"]}}]}"
                self.imported(self.file(gzip.compress(text, 1), "bomb.json.gz"), 1, "1 events cannot be read", "too long for")

    def test_facts_as_long_as_are_read(self):
        size = 7 << 20
        for key, text in (("distributedInfo", '{"pg_config": [{"pg_name": "0", "ranks": [' + "7," * (size // 2) + "7]}]}"),
                          ("distributedInfo", '{"pg_config": [' + "{}," * (size // 3) + "{}]}"),
                          ("deviceProperties", "[" + ",".join(f'{{"id":{n}}}' for n in range(size // 20)) + "]")):
            with self.subTest(key=key):
                self.imported(self.file(HEAD + GOOD + f'], "{key}": {text}}}'), 1)

    def test_pickles_load_no_code_and_take_no_memory_that_they_claim(self):
        mark = self.folder / "mark"
        for name, content, *words in (
                ("global", f"\x80\x02cos\nsystem\n(S'touch {mark}'\ntR.", "opcode GLOBAL at byte 2", "code"),
                ("reduce", b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.", "opcode STACK_GLOBAL at byte 14"),
                ("length", b"\x80\x02X\xff\xff\xff\x7fabc.", "opcode BINUNICODE at byte 2 needs 2147483647 bytes"),
                ("memo", b"\x80\x02Nr\xff\xff\xff\xffj\xfe\xff\xff\xff.", "refers to value 4294967294"),
                ("deep", b"\x80\x02" + b"]" * 1_000_000 + b"a" * 999_999 + b".", "more than 1000 deep"),
                ("tuples", b"\x80\x02(" + b")" * 2_000_000 + b"t.", "needs more memory"),
                ("itself", b"\x80\x02]q\x01h\x01a.", "contains itself"),
                ("opcode", b"\x80\x02\x7f.", "byte 2 is 0x7f"),
                ("no dump", b"\x80\x02}.", "neither a dump of PyTorch's NCCL flight recorder nor a memory snapshot")):
            with self.subTest(name):
                content = content.encode("latin-1") if isinstance(content, str) else content
                self.refused(self.file(content, name), *words)
        self.assertFalse(mark.exists())

    def test_memory_that_runs_out_is_said_and_leaves_nothing(self):
        global MOST_MEMORY
        self.addCleanup(globals().__setitem__, "MOST_MEMORY", MOST_MEMORY)
        MOST_MEMORY = 160 << 20  # less than an event of 60 MB takes
        done = self.sonde_import(self.file(HEAD + GOOD.replace("aten::add", "a" * (60 << 20)) + "]}"))
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (3, 1), done.stderr)
        self.assertIn("out of memory: free some", done.stderr)

    def test_an_export_of_many_that_overlap(self):
        events = []
        for request in range(10_000):  # 1,500 of which are open at any time, none with the others' begins before it
            event = f'"cat": "c", "name": "r{request}", "id": {request}, "pid": 1, "tid": 2, "ts": '
            events.append('{"ph": "b", ' + event + f"{10 * request}}}")
            events.append('{"ph": "e", ' + event + f"{10 * request + 15_005}}}")
        self.imported(self.events(*events), 10_001)
        exported = subprocess.run([SONDE, "export", self.trace, "--to", "folded", "-o", "-"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, timeout=120, preexec_fn=limited)
        self.assertEqual((exported.returncode, exported.stderr), (0, ""))

    def test_a_gzip_file_that_is_damaged(self):
        whole = gzip.compress((HEAD + ",".join([GOOD] * 2000) + "]}").encode())
        self.imported(self.file(whole, "whole.json.gz"), 2000)
        broken = bytearray(whole)
        broken[len(broken) // 2] ^= 0xff
        done = self.sonde_import(self.file(bytes(broken), "broken.json.gz"))
        self.assertIn("byte", done.stderr)


if __name__ == "__main__":
    unittest.main()
