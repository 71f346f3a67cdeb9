"""The file system of the spool fills half-way, or a quota or a memory limit is reached: the job lives, and recorded and lost
annotations are together exactly those that it made. SIGBUS is the failure to look for: a mapped page without a block."""
import contextlib
import os
import pathlib
import sqlite3
import subprocess
import unittest

from run_support import SONDE, TARGETS, RunTest

COUNT, THREADS = 200_000, 3

# Fills FOLDER piece by piece once the job has its first spool file, and keeps it full.
FILLER = """
filler() {
  until ls "$1"/sonde-*/*/*.spool >/dev/null 2>&1; do sleep 0.01; done
  sleep 0.15
  piece=0
  while [ -e "$1/go" ]; do
    dd if=/dev/zero of="$1/filler.$piece" bs=64k count=1 2>/dev/null || sleep 0.01
    piece=$((piece + 1))
  done
}
"""


class FullSpool(RunTest):
    """What the cases share."""

    def job(self, names=1):
        return self.arguments(TARGETS / "annotation_burst", COUNT, THREADS, names,
                              options=("-f", "--spool", self.spool, "--sources", "annotation"))

    def record(self, preparation, names=1):
        return self.in_namespace(preparation, *self.job(names))

    def check(self, result, full=True):
        """The job is as ever, the trace is whole, and every annotation is in it or counted."""
        self.assertEqual((result.returncode, result.stdout), (3, f"made {COUNT * THREADS}\n"), result.stderr)
        trace = sqlite3.connect(f"file:{self.output}?mode=ro", uri=True)
        stored, ended = trace.execute(
            "SELECT count(*), count(dur_ns) FROM slice WHERE kind = 'operation'").fetchone()
        lost = dict(trace.execute("SELECT kind, sum(count) FROM loss WHERE probe = 'annotation' GROUP BY kind"))
        finished = trace.execute("SELECT count(*) FROM meta WHERE key = 'finished'").fetchone()[0]
        trace.close()
        self.assertEqual(finished, 1)
        self.assertEqual(stored + lost.get("scope begin", 0), COUNT * THREADS, (stored, ended, lost))
        if full:
            self.assertGreater(stored, 0)
            self.assertGreater(lost.get("scope begin", 0), 0, "nothing was lost: the file system did not fill")
            self.assertIn("records were dropped", result.stderr)

    def filled(self, mount):
        return (f'{FILLER}{mount} && touch {self.spool}/go && {{ filler {self.spool} & }} && "$@"; '
                f'status=$?; rm -f {self.spool}/go; wait; exit $status')


class Tmpfs(FullSpool):
    def test_another_process_fills_it(self):
        for size in ("1m", "3m", "8m"):
            for names in (1, 50_000):
                with self.subTest(size=size, names=names):
                    self.check(self.record(self.filled(f"mount -t tmpfs -o size={size} tmpfs {self.spool}"), names))

    def test_the_spool_fills_it(self):
        for size in ("1m", "3m", "8m"):
            for names in (1, 50_000):
                with self.subTest(size=size, names=names):
                    self.check(self.record(f'mount -t tmpfs -o size={size} tmpfs {self.spool} && exec "$@"', names))


class SmallFileSystem(FullSpool):
    """A real ext4, whose mapped pages get blocks of a device."""

    def mount(self, size):
        image = self.folder / "image"
        image.unlink(missing_ok=True)
        with open(image, "wb") as file:
            file.truncate(size)
        made = subprocess.run(["/sbin/mkfs.ext4", "-q", image], capture_output=True, text=True)
        mount = f"mount -o loop {image} {self.spool}"
        tried = self.in_namespace(mount) if made.returncode == 0 else made
        if tried.returncode != 0:
            self.skipTest(f"not run: no ext4 on a loop device here: {tried.stderr.strip()}")
        return mount

    def test_another_process_fills_it(self):
        for size in (4 << 20, 12 << 20):
            mount = self.mount(size)
            for names in (1, 50_000):
                with self.subTest(size=size, names=names):
                    self.check(self.record(self.filled(mount + f" && rm -f {self.spool}/filler.*"), names))


class SubvolumeQuota(FullSpool):
    """btrfs, which at a quota's limit kills who writes to a mapped page, also one that has its block."""

    def mount(self, limit):
        """Shell that mounts it on `place`, with this many bytes for its subvolume."""
        image, place = self.folder / "image", self.folder / "limited"
        place.mkdir(exist_ok=True)
        image.unlink(missing_ok=True)
        with open(image, "wb") as file:
            file.truncate(160 << 20)
        mount = f"mount -o loop {image} {place}"
        tried = self.in_namespace(f"mkfs.btrfs -q {image} && {mount} && btrfs quota enable {place} && "
                                  f"btrfs qgroup limit {limit} 0/5 {place}")
        if tried.returncode != 0:
            self.skipTest(f"not run: no btrfs with a quota on a loop device here: {tried.stderr.strip()}")
        return mount, place

    def test_no_spool_is_put_there(self):
        mount, place = self.mount(4 << 20)
        result = self.in_namespace(f'{mount} && exec "$@"',
                                   *self.arguments("sh", "-c", 'echo "$SONDE_SESSION"', options=("--spool", place)))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout.startswith(f"{self.spool}/"), result.stdout)

    def test_a_trace_is_finished_once_there_is_room(self):
        mount, place = self.mount(24 << 20)
        result = self.in_namespace(
            f'{mount} && {{ "$@"; status=$?; btrfs qgroup limit none 0/5 {place}; '
            f'{SONDE} recover {self.spool}/sonde-*/* >&2 && cp {place}/out.sonde {self.folder}; '
            f'ls -A {place} | grep part; exit $status; }}',
            *self.arguments(TARGETS / "annotation_burst", COUNT, THREADS, 50_000, output=False,
                            options=("-o", place / "out.sonde", "--sources", "annotation", "--max-size", "1GiB")))
        self.check(result, full=False)
        self.assertRegex(result.stderr, fr"sonde run: {place}/out.sonde.part has no room \(.*Disk quota exceeded\): "
                                        fr"free some space, then finish the trace with sonde recover {self.spool}/sonde-")


class UserQuota(FullSpool):
    """ext4 with a quota of the user whose job it is, who is not root."""

    USER = 65534

    def test_a_limit_below_the_spools(self):
        image = self.folder / "image"
        with open(image, "wb") as file:
            file.truncate(256 << 20)
        self.folder.chmod(0o777)
        mount = (f"mount -o loop,usrquota {image} {self.spool} && chown {self.USER} {self.spool} && "
                 f"setquota -u {self.USER} 0 8192 0 0 {self.spool}")
        as_user = f"setpriv --reuid {self.USER} --clear-groups"
        tried = self.in_namespace(f"mkfs.ext4 -q -O quota -E quotatype=usrquota {image} && {mount} && "
                                  f"{as_user} test -x {SONDE}")
        if tried.returncode != 0:
            self.skipTest("not run: no ext4 with quotas on a loop device, or no build that another user may run, here: "
                          + tried.stderr.strip())
        for names in (1, 50_000):
            with self.subTest(names=names):
                self.check(self.record(f'{mount} && exec {as_user} "$@"', names))


class MemoryLimit(FullSpool):
    """A spool in memory that counts against the memory limit of the job's control group."""

    # For each control group version: the file of the limit, and the file that counts processes killed for it.
    FILES = {"cgroup2": ("memory.max", "memory.events"), "cgroup": ("memory.limit_in_bytes", "memory.oom_control")}

    def parents(self):
        """(folder below which a group with a memory limit may be made, version of control groups), best first."""
        own = {}
        for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            own.update({controller: path for controller in controllers.split(",")})
        for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
            mount, (kind, _, options) = line.split()[4], line.split(" - ")[1].split()[:3]
            if kind == "cgroup2" and "" in own:
                here = pathlib.Path(mount + own[""])
                yield from ((here, kind), (here.parent, kind))  # a group with processes of its own gives none below a limit
            elif kind == "cgroup" and "memory" in options.split(",") and "memory" in own:
                yield pathlib.Path(mount + own["memory"]), kind

    @contextlib.contextmanager
    def group(self, limit):
        """A control group with this limit, and the file that counts its kills."""
        for parent, version in self.parents():
            group, (maximum, kills) = parent / f"sonde-test-{os.getpid()}", self.FILES[version]
            try:
                group.mkdir()
            except OSError:
                continue
            try:
                if (group / maximum).exists():
                    (group / maximum).write_text(str(limit))
                    yield group, group / kills
                    return
            finally:
                group.rmdir()
        self.skipTest("not run: no control group whose memory may be limited here")

    def test_a_limit_below_the_spools(self):
        with self.group(96 << 20) as (group, kills):
            self.check(self.record(f'echo $$ > {group}/cgroup.procs && '
                                   f'mount -t tmpfs -o size=1g tmpfs {self.spool} && exec "$@"'), full=False)
            self.assertIn("oom_kill 0\n", kills.read_text())


if __name__ == "__main__":
    unittest.main()
