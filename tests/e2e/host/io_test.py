"""Probe io: files that are read, written and mapped, as a program and Python do it."""
import pathlib
import sys
import unittest

from run_support import TARGETS, RunTest

ROWS = """SELECT n.text, io.offset, io.bytes FROM io JOIN slice s ON s.id = io.slice_id JOIN string n ON n.id = s.name_id
          JOIN string f ON f.id = io.path_id WHERE f.text = '{}' ORDER BY s.start_ns"""
EXPECTED = [
    ("open", None, None), ("write", 0, 10000), ("writev", 10000, 300), ("pwrite", 20000, 50), ("pwritev", 30000, 300),
    ("pwritev2", 10300, 100), ("fsync", None, None), ("fdatasync", None, None),
    ("open", None, None), ("write", 30300, 7),
    ("open", None, None), ("read", 0, 1000), ("readv", 1000, 30), ("pread", 4000, 5), ("preadv", 5000, 30),
    ("preadv2", 6000, 10), ("read", 1030, 3), ("read", 30307, 0), ("pread", None, 0), ("pread", None, 0),
    ("pread", 0, 1),
    ("mmap", 4096, 8192), ("mmap", 0, 0),
    ("open", None, None), ("read", 0, 8), ("read", 8, 8), ("read", 16, 4),
    ("fopen", None, None), ("read", 0, 1),
    ("open", None, None), ("pwritev2", None, 1), ("open", None, None), ("open", None, None), ("open", None, None),
    ("fopen", None, None), ("fwrite", 0, 8192), ("fclose", 8192, 1818),
    ("fopen", None, None), ("fread", 0, 4096), ("fread", 4096, 5914), ("fread", 10010, 0),
    ("freopen", None, None), ("fwrite", 10010, 4096), ("fclose", None, 904),
    ("fopen", None, None), ("fflush", 0, 3),
    ("open", None, None), ("mmap", 0, 4096)]


class Files(RunTest):
    def record(self, *program, sources="io", **environment):
        result = self.run_sonde(*program, options=("-f", "--sources", sources), env=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def test_every_call_has_its_file_its_place_and_its_bytes(self):
        data = self.folder / "data"
        self.record(TARGETS / "file_calls", data)
        self.assertEqual(self.rows(ROWS.format(data)), EXPECTED)
        self.assertEqual(self.rows("SELECT DISTINCT f.text FROM io JOIN string f ON f.id = io.path_id"), [(str(data),)],
                         "neither pipes nor devices nor memory are files")
        self.assertEqual(self.rows("SELECT call, offset, bytes FROM v_io WHERE path IS NULL"), [("msync", None, None)])
        self.assertEqual(self.rows("SELECT * FROM loss"), [])

    def test_beside_the_other_probes(self):
        data = self.folder / "data"
        self.record(TARGETS / "file_calls", data, sources="annotation,net,nvtx,io")
        self.assertEqual(self.rows(ROWS.format(data)), EXPECTED)
        self.assertEqual(self.rows("SELECT direction, sum(bytes) FROM transfer JOIN channel c ON c.id = channel_id "
                                   "WHERE c.kind = 'pipe' GROUP BY 1 ORDER BY 1"), [("receive", 1), ("send", 1)])

    def test_nothing_when_it_is_off(self):
        self.record(TARGETS / "file_calls", self.folder / "data", sources="annotation,net")
        self.assertEqual(self.rows("SELECT count(*) FROM io"), [(0,)])
        self.assertEqual(self.rows("SELECT count(*) FROM slice WHERE kind = 'io'"), [(0,)])

    def calls(self, *columns):
        return self.rows(f"SELECT {', '.join(columns)} FROM v_io WHERE path GLOB '{self.folder}/*' ORDER BY slice_id")

    # The path is the one at the first recorded call, because it is not looked up before.
    def test_what_was_opened_while_it_was_off_has_its_path(self):
        for name in ("data", "other", "third"):
            (self.folder / name).write_bytes(bytes(100))
        program = ("import os, sonde, sys\n"
                   "os.chdir(sys.argv[1])\n"
                   "fd = os.open('data', os.O_RDWR); os.pread(fd, 1, 0)\n"
                   "copy = os.dup(fd)\n"
                   "os.rename('data', 'renamed')\n"
                   "none = [os.open('/proc/self/status', os.O_RDONLY), os.memfd_create('memory')]\n"
                   "for each in none: os.read(each, 1)\n"
                   "gone = os.open('other', os.O_RDWR); os.pread(gone, 1, 0); os.close(gone)\n"
                   "third = os.open('third', os.O_RDWR)\n"
                   "assert third == gone\n"
                   "os.pread(third, 1, 0)\n"
                   "with sonde.operation('recorded'):\n"
                   "    os.pread(fd, 2, 0); os.pread(copy, 3, 0)\n"
                   "    for each in none: os.pread(each, 4, 0); os.pread(each, 4, 0)\n"
                   "    os.pread(third, 5, 0)\n"
                   "    os.rename('renamed', 'again'); os.pread(fd, 6, 0)\n"
                   "    gone = os.open('other', os.O_RDWR); os.close(gone)\n"
                   "os.pread(third, 7, 0)\n")
        result = self.run_sonde(sys.executable, "-c", program, self.folder,
                                options=("-f", "--sources", "annotation,io", "--capture", "range:recorded"))
        self.assertEqual(result.returncode, 0, result.stderr)
        renamed, third = str(self.folder / "renamed"), str(self.folder / "third")
        self.assertEqual(self.calls("call", "path", "bytes"),
                         [("pread", renamed, 2), ("pread", renamed, 3), ("pread", third, 5), ("pread", renamed, 6),
                          ("open", str(self.folder / "other"), None)])
        self.assertEqual(self.rows("SELECT count(*) FROM io WHERE bytes = 4"), [(0,)], "neither /proc nor memory is a file")

    def test_a_file_costs_no_system_call_of_its_own_while_it_is_off(self):
        result = self.run_sonde(TARGETS / "pipe_under_seccomp", "/bin/sh",
                                options=("-f", "--sources", "annotation,net,io", "--capture", "range:never"))
        if result.returncode == 77:
            self.skipTest("no system call filters here")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.rows("SELECT count(*) FROM io"), [(0,)])

    def test_a_child_on_its_parents_memory_changes_no_path(self):
        data, moved, other = (str(self.folder / name) for name in ("data", "data.moved", "other"))
        late = ("--capture", "range:recorded")
        # A file that a silent clone has closed is inspected again: by then it has another name.
        for kind, options, closed, kept in (("vfork", (), data, data), ("clone", (), moved, data),
                                            ("vfork", late, moved, moved), ("clone", late, moved, moved)):
            for name in (data, other):
                pathlib.Path(name).write_bytes(bytes(100))
            result = self.run_sonde(TARGETS / "shared_memory_children", kind, data, other,
                                    options=("-f", "--sources", "annotation,net,io", *options))
            self.assertEqual((result.returncode, result.stdout), (0, "0\n"), result.stderr)
            for size, path in ((3, closed), (5, kept)):
                self.assertEqual(self.rows(f"SELECT path FROM v_io WHERE bytes = {size} AND path GLOB '{self.folder}/*'"),
                                 [(path,)], (kind, options, size))
            self.assertEqual(self.rows(f"SELECT * FROM v_io WHERE path = '{other}'"), [], (kind, options))

    def test_a_call_that_waits_for_a_disk_is_told_from_one_that_does_not(self):
        data = self.folder / "data"
        data.write_bytes(bytes(1 << 20))
        program = ("import os, sys; fd = os.open(sys.argv[1], os.O_RDWR); os.fsync(fd); "
                   "os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED); "
                   "os.pread(fd, 1 << 20, 0); os.pread(fd, 1 << 20, 0)")
        self.record(sys.executable, "-c", program, data)
        (cold,), (warm,) = self.rows("SELECT io.disk_bytes FROM io JOIN string f ON f.id = io.path_id "
                                     f"WHERE f.text = '{data}' AND bytes = 1048576 ORDER BY slice_id")
        self.assertEqual(warm, 0)
        self.assertGreaterEqual(cold, 1 << 20)

    def test_a_view_says_who_served_a_read(self):
        data = self.folder / "data"
        data.write_bytes(bytes(4096))
        self.record(sys.executable, "-c", "import os, sys; fd = os.open(sys.argv[1], os.O_RDWR); os.fsync(fd)\n"
                    "for _ in range(200): os.pread(fd, 4096, 0)\n"
                    "os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED); os.pread(fd, 4096, 0); os.pwrite(fd, b'x', 0)", data)
        served = [who for who, in self.rows(f"SELECT served_by FROM v_io WHERE path = '{data}' AND call = 'pread' "
                                            "ORDER BY slice_id")]
        self.assertGreater(served[:-1].count("page cache"), 150)
        self.assertEqual(served[-1], "disk")
        self.assertEqual(self.rows(f"SELECT DISTINCT served_by FROM v_io WHERE path = '{data}' AND call <> 'pread'"), [(None,)])

    def test_very_many_files_leave_room_for_other_names(self):
        program = ("import os, sonde, sys\n"
                   "for n in range(30000):\n"
                   "    name = f'{sys.argv[1]}/{n}'\n"
                   "    os.close(os.open(name, os.O_CREAT | os.O_RDWR))\n"
                   "    os.unlink(name)\n"
                   "with sonde.operation('after them all'): pass\n"
                   "os.close(os.open(f'{sys.argv[1]}/0', os.O_CREAT | os.O_RDWR))\n")
        self.record(sys.executable, "-c", program, self.folder, sources="annotation,io")
        self.assertEqual(self.rows("SELECT count(*) FROM v_slice WHERE name = 'after them all'"), [(1,)])
        self.assertEqual(self.rows("SELECT * FROM loss"), [])
        ((many, by_name),) = self.rows(f"SELECT sum(path = '{self.folder}/*'), count(DISTINCT path) FROM v_io "
                                       f"WHERE path GLOB '{self.folder}/*'")
        self.assertGreater(many, 1000)
        self.assertGreater(by_name, 20000)
        self.assertEqual(self.rows(f"SELECT count(*) FROM v_io WHERE path = '{self.folder}/0'"), [(2,)])

    def test_files_lie_in_the_scope_that_used_them(self):
        data = self.folder / "data"
        program = ("import sonde, sys\n"
                   "with sonde.operation('save'):\n"
                   "    with open(sys.argv[1], 'wb') as file: file.write(b'x' * 100000)\n"
                   "with sonde.operation('load'):\n"
                   "    with open(sys.argv[1], 'rb') as file: file.read()\n")
        self.record(sys.executable, "-c", program, data, sources="annotation,io")
        self.assertEqual(self.rows("SELECT scope, call, sum(bytes) FROM v_io WHERE bytes > 0 AND "
                                   f"path = '{data}' GROUP BY 1, 2 ORDER BY 1"),
                         [("load", "read", 100000), ("save", "write", 100000)])

    def test_arrays_that_numpy_saves_and_loads(self):
        data = self.folder / "array.npy"
        program = ("import numpy, sonde, sys\n"
                   "with sonde.operation('save'): numpy.save(sys.argv[1], numpy.zeros(1 << 20))\n"
                   "with sonde.operation('load'): numpy.load(sys.argv[1])\n")
        self.record("/usr/bin/python3", "-c", program, data, sources="annotation,io")
        moved = dict(self.rows(f"SELECT scope, sum(bytes) FROM v_io WHERE path = '{data}' AND bytes > 0 GROUP BY 1"))
        self.assertGreaterEqual(moved["save"], 8 << 20)
        self.assertGreaterEqual(moved["load"], 8 << 20)

    def test_files_of_very_many_names(self):
        program = ("import os, sys\n"
                   "for n in range(3000):\n"
                   "    fd = os.open(f'{sys.argv[1]}/{n}', os.O_CREAT | os.O_RDWR)\n"
                   "    os.pwrite(fd, b'x' * n, 0)\n"
                   "    os.close(fd)\n")
        self.record(sys.executable, "-c", program, self.folder)
        self.assertEqual(self.rows("SELECT count(*), sum(bytes), count(DISTINCT path) FROM v_io WHERE call = 'pwrite'"),
                         [(3000, sum(range(3000)), 3000)])


if __name__ == "__main__":
    unittest.main()
