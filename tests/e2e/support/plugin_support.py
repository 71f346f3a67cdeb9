"""What the plugin_*_test.py files share: runs with probes from outside."""
import os
import pathlib

from run_support import TARGETS, RunTest

EXAMPLES = pathlib.Path(os.environ["SONDE_EXAMPLES"])


def target(name):
    return TARGETS / f"lib{name}.so"


class PluginTest(RunTest):
    def record(self, *command, plugins, options=(), status=0, env=None):
        """What the job printed and what Sonde said."""
        given = [word for plugin in plugins for word in ("--plugin", str(plugin))]
        done = self.run_sonde(*command, options=(*given, *options), env=env)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout, done.stderr

    def losses(self):
        return {(probe, kind): count for probe, kind, count in self.rows(
            "SELECT probe, kind, sum(count) FROM loss GROUP BY 1, 2")}

    def notes(self):
        return self.rows("SELECT severity, source, text FROM note WHERE source GLOB 'plugin*' ORDER BY id")
