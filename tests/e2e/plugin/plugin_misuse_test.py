"""Plugins that do what they must not: each is named and counted, and the job runs as if they were not there."""
import unittest

from plugin_support import EXAMPLES, PluginTest, target
from run_support import TARGETS

PROGRAM = TARGETS / "plugin_program"
MARKS = "SELECT name, count(*) FROM v_slice WHERE kind = 'mark' AND category = 'thrower' GROUP BY 1 ORDER BY 1"


class Throws(PluginTest):
    def thrown(self, where, **env):
        printed, said = self.record(PROGRAM, "exit", plugins=[target("plugin_throws"), EXAMPLES / "libballsim_probe.so"],
                                    status=5, env={"PLUGIN_THROWS": where, **env})
        self.assertTrue(printed.startswith("runtime "), printed)
        self.assertEqual(len(printed.splitlines()), 1)
        return said

    def test_nowhere(self):
        said = self.thrown("nowhere")
        self.assertNotIn("plugin", said)
        self.assertEqual(self.notes(), [])
        self.assertEqual(self.rows(MARKS), [("after forked", 1), ("after start", 1), ("after stop", 2), ("before", 1)])

    def test_in_start(self):
        said = self.thrown("start")
        text = "threw an exception in start (no luck in start): it is off in this process"
        self.assertIn(f"plugin thrower: {text}", said)
        self.assertEqual(self.notes(), [("error", "plugin thrower", text)])
        self.assertEqual(self.rows(MARKS), [("before", 1)])

    def test_what_is_no_exception(self):
        said = self.thrown("start", PLUGIN_THROWS_INT="1")
        self.assertIn("plugin thrower: threw an exception in start (no std::exception)", said)

    def test_in_stop(self):
        said = self.thrown("stop")
        self.assertIn("plugin thrower: threw an exception in stop (no luck in stop): it is off in this process (2 processes)",
                      said)
        self.assertEqual(len(self.notes()), 2)  # of the child, too
        self.assertEqual(self.rows(MARKS), [("after forked", 1), ("after start", 1), ("before", 1)])

    def test_in_a_child(self):
        self.thrown("forked")
        self.assertEqual([text[:31] for _, _, text in self.notes()], ["threw an exception in forked (n"])
        self.assertEqual(self.rows(MARKS), [("after start", 1), ("after stop", 1), ("before", 1)])  # the parent's own


class Misuses(PluginTest):
    EXPECTED = {
        ("misuser", "intern: null pointer"): 2,  # one as a text argument
        ("misuser", "intern: text too long"): 1,
        ("misuser", "counter: null pointer"): 2,
        ("misuser", "counter: text too long"): 1,
        ("misuser", "counter: too many"): 77,  # of 1 + 1100, 1024 have room
        ("misuser", "note: null pointer"): 1,
        ("misuser", "note: unknown kind"): 1,
        ("misuser", "begin: unknown kind"): 3,
        ("misuser", "begin: unknown name"): 2,
        ("misuser", "end: not open on this thread"): 4,
        ("misuser", "end: not its own scope"): 1,
        ("misuser", "argument: not open on this thread"): 1,
        ("misuser", "argument: not the last record of its thread"): 1,
        ("misuser", "argument: unknown name"): 1,
        ("misuser", "call: impossible time"): 3,
        ("misuser", "call: unknown kind"): 1,
        ("misuser", "call: unknown name"): 1,
        ("misuser", "mark: unknown name"): 1,
        ("misuser", "value: unknown counter"): 3,
        ("misuser", "value: not a finite number"): 2,
        ("misuser", "mark: not between start and stop"): 1,
        ("misuser", "begin: not between start and stop"): 1,
        ("plugin", "mark: null pointer"): 2,  # through tables that nobody has handed out
    }

    def test_are_each_counted(self):
        printed, said = self.record("/bin/echo", "untouched", plugins=[target("plugin_misuses")])
        self.assertEqual(printed, "untouched\n")
        self.assertEqual(self.losses(), self.EXPECTED)
        own = sum(count for (probe, _), count in self.EXPECTED.items() if probe == "misuser")
        self.assertIn(f"records were dropped: plugin 2, plugin misuser {own}", said)
        self.assertEqual(self.rows("SELECT DISTINCT reason FROM loss ORDER BY 1"), [("plugin",), ("plugin misuser",)])

    def test_leave_what_is_right(self):
        self.record("/bin/echo", plugins=[target("plugin_misuses")])
        found = self.rows("SELECT kind, category, name FROM v_slice WHERE category IN ('misuser', 'annotation') ORDER BY id")
        self.assertCountEqual(found, [("mark", "misuser", "name"), ("operation", "annotation", "the program's own"),
                                      ("operation", "misuser", "outer"), ("api", "misuser", "first"),
                                      ("mark", "misuser", "second"), ("operation", "misuser", "held")])
        self.assertEqual(self.rows("SELECT value FROM sample s JOIN counter c ON c.id = s.counter_id JOIN string n"
                                   " ON n.id = c.name_id WHERE n.text = 'good'"), [(42.0,)])
        self.assertEqual(self.rows("SELECT count(*) FROM slice WHERE dur_ns IS NULL"), [(0,)])


if __name__ == "__main__":
    unittest.main()
