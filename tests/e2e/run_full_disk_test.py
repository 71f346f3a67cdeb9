"""A disk that fills, a limit that is reached: the job goes on, the trace keeps what it has, the summary says so."""
import resource
import unittest

from run_support import RunTest



class FullDisk(RunTest):
    def in_a_small_tmpfs(self, size, *command, at):
        """Runs the command with a tmpfs of this size at a folder, in a mount namespace of its own."""
        return self.in_namespace(f'mount -t tmpfs -o size={size} tmpfs {at} && exec "$@"', *command)

    def test_a_spool_too_small_for_anything(self):
        for size in ("64k", "1m", "2m"):
            result = self.in_a_small_tmpfs(
                size, *self.arguments("sh", "-c", "python3 -c pass; echo done; exit 3", options=("-f",)),
                at=self.spool)
            self.assertEqual((result.returncode, result.stdout), (3, "done\n"), (size, result.stderr))

    def test_an_output_disk_without_room(self):
        place = self.folder / "small"
        place.mkdir()
        result = self.in_a_small_tmpfs(
            "48k", *self.arguments("sh", "-c", "echo done; exit 3", options=("-o", place / "t.sonde"),
                                   output=False), at=place)
        self.assertEqual((result.returncode, result.stdout), (3, "done\n"), result.stderr)
        self.assertRegex(result.stderr, "sonde run: ")

    def test_a_limit_on_file_sizes(self):
        """SIGXFSZ is the recorder's to ignore and must not reach a job that writes no large file."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (32 * 1024, resource.RLIM_INFINITY))
        result = self.run_sonde("sh", "-c", "echo done; exit 3", preexec_fn=limit)
        self.assertEqual((result.returncode, result.stdout), (3, "done\n"), result.stderr)


if __name__ == "__main__":
    unittest.main()
