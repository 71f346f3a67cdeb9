"""Probes from outside: the examples record what they are for, wherever the job goes, and one that cannot be is refused."""
import pathlib
import shutil
import subprocess
import sys
import unittest

from plugin_support import EXAMPLES, PluginTest, target
from run_support import SONDE, TARGETS

PROBE = EXAMPLES / "libballsim_probe.so"
BOUNCE = EXAMPLES / "bounce"
STEPS = "SELECT count(*) FROM v_slice WHERE kind = 'api' AND category = 'simulator' AND name = 'ballsim_step'"


class Examples(PluginTest):
    def test_calls_of_a_library_and_a_counter(self):
        bare = subprocess.run([BOUNCE, "50"], capture_output=True, text=True, check=True).stdout
        printed, said = self.record(BOUNCE, "50", plugins=[PROBE])
        self.assertEqual(printed, bare)
        self.assertNotIn("plugin", said)
        self.assertEqual(self.rows(STEPS), [(50,)])
        self.assertEqual(self.rows("SELECT value FROM v_arg WHERE owner = 'slice' AND key = 'balls'"), [(1000,)])
        ((unit, samples, last),) = self.rows(
            "SELECT c.unit, count(*), (SELECT value FROM sample WHERE counter_id = c.id ORDER BY ts_ns DESC LIMIT 1)"
            " FROM counter c JOIN string n ON n.id = c.name_id JOIN sample s ON s.counter_id = c.id"
            " WHERE n.text = 'ballsim energy' AND c.process_id IS NOT NULL")
        self.assertEqual((unit, samples, f"{last:.1f} J\n"), ("J", 50, printed))
        self.assertEqual(self.rows("SELECT value FROM v_arg WHERE owner = 'process' AND key = 'sonde.plugin'"),
                         [("ballsim 1.0",)])
        self.assertEqual(self.rows("SELECT * FROM loss"), [])

    def test_of_a_library_that_python_loads(self):
        # A handle of the library itself finds only its own functions; intercepted ones are found through the program's handle.
        script = ("import ctypes\n"
                  f"loaded, lib = ctypes.CDLL('{EXAMPLES}/libballsim.so'), ctypes.CDLL(None)\n"
                  "lib.ballsim_create.restype = ctypes.c_void_p\n"
                  "lib.ballsim_step.argtypes = [ctypes.c_void_p, ctypes.c_double]\n"
                  "world = lib.ballsim_create(10)\n"
                  "for step in range(5): lib.ballsim_step(world, 0.01)\n")
        self.record(sys.executable, "-c", script, plugins=[PROBE])
        self.assertEqual(self.rows(STEPS), [(5,)])

    def test_in_forked_and_executed_children(self):
        script = f"{BOUNCE} 3 & {BOUNCE} 4 & wait; env -i {BOUNCE} 5; exec {BOUNCE} 6"
        self.record("sh", "-c", script, plugins=[PROBE])
        self.assertEqual(self.rows("SELECT count(*) FROM v_slice WHERE name = 'ballsim_step' GROUP BY process_id ORDER BY 1"),
                         [(3,), (4,), (5,), (6,)])

    def test_two_at_once_and_one_in_cpp(self):
        self.record("sh", "-c", f"{BOUNCE} 20; sleep 0.2", plugins=[PROBE, EXAMPLES / "libopen_files.so"])
        self.assertEqual(self.rows(STEPS), [(20,)])
        ((processes, most),) = self.rows(
            "SELECT count(DISTINCT c.process_id), max(s.value) FROM counter c JOIN string n ON n.id = c.name_id"
            " JOIN sample s ON s.counter_id = c.id WHERE n.text = 'open files'")
        self.assertEqual(processes, 3)  # sh, bounce, sleep
        self.assertGreaterEqual(most, 3)
        self.assertEqual(self.losses(), {})

    def test_no_runtime_of_cpp_comes_into_a_c_program(self):
        printed, _ = self.record(TARGETS / "plugin_program", plugins=[PROBE], status=5)
        self.assertEqual(printed, "runtime 0\n")

    def test_nothing_is_recorded_while_recording_is_paused(self):
        self.record(BOUNCE, "50", plugins=[PROBE], options=("--delay", "60s"))
        self.assertEqual(self.rows("SELECT count(*) FROM v_slice WHERE category = 'simulator'"), [(0,)])
        self.assertEqual(self.losses(), {})


class Refused(PluginTest):
    def refusal(self, *plugins, env=None):
        flag = self.folder / "ran"
        printed, said = self.record("touch", flag, plugins=plugins, status=125, env=env)
        self.assertFalse(flag.exists(), "the job was started")
        self.assertEqual(printed, "")
        self.assertFalse(self.output.exists())
        return said

    def test_of_another_version(self):
        said = self.refusal(target("plugin_other_abi"))
        self.assertIn(str(target("plugin_other_abi")), said)
        self.assertIn("plugin ABI 7, and this Sonde has 1", said)

    def test_what_is_no_plugin(self):
        text = self.folder / "text.so"
        text.write_text("no library")
        for path, why in ((self.folder / "none.so", "No such file"), (text, "not a shared object"), (self.folder, "a folder"),
                          (pathlib.Path(SONDE), "a program, not a library"),
                          (EXAMPLES / "libballsim.so", "exports no object sonde_plugin_descriptor")):
            with self.subTest(why):
                said = self.refusal(path)
                self.assertIn(why, said)
                self.assertIn(str(path), said)

    def test_where_the_loader_could_not_load_it(self):
        said = self.refusal(target("plugin_links"))
        self.assertIn("libplugin_missing.so", said)
        self.record("true", plugins=[target("plugin_links")], env={"LD_LIBRARY_PATH": str(TARGETS / "elsewhere")})

    def test_twice(self):
        again = self.folder / "again.so"
        shutil.copy(PROBE, again)
        self.assertIn("both called 'ballsim'", self.refusal(PROBE, again))

    def test_a_path_with_a_blank(self):
        blank = self.folder / "a b.so"
        shutil.copy(PROBE, blank)
        self.assertIn("a blank or colon", self.refusal(blank))


class InTheProcess(PluginTest):
    """A program may give its children another list of plugins, which nobody has checked before."""

    def record_with(self, plugin):
        library = pathlib.Path(SONDE).parent.parent / "lib" / "sonde"
        lists = f"{library}/libsonde_plugin.so:{plugin}"
        self.record("env", f"SONDE_PLUGIN_LIBRARIES={lists}", f"LD_PRELOAD={library}/libsonde_preload.so:{lists}", "sh", "-c",
                    "echo done", plugins=[PROBE])

    def test_another_version_is_refused_and_the_job_runs(self):
        self.record_with(target("plugin_other_abi"))
        self.assertEqual(self.notes(), [("error", "plugin", f"{target('plugin_other_abi')} was not started: it is of plugin ABI"
                                         " 7, and this Sonde has 1")])

    def test_what_is_no_plugin_is_refused(self):
        self.record_with(EXAMPLES / "libballsim.so")
        self.assertEqual(self.notes(), [("error", "plugin", f"{EXAMPLES}/libballsim.so was not started: it has no"
                                         " sonde_plugin_descriptor")])


if __name__ == "__main__":
    unittest.main()
