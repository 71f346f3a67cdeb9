"""How the PyTorch hooks come into a program."""
import pathlib
import tempfile
import unittest

import recorded


class StartUp(unittest.TestCase):
    def test_the_shadowed_sitecustomize_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "sitecustomize.py").write_text("import sys\nsys.shadowed = __file__\n")
            trace = recorded.run("""
                import sys, sitecustomize
                print(sys.shadowed == sitecustomize.__file__)
                import torch
                print(torch.ones(1, requires_grad=True).sum().backward())
            """, environment={"PYTHONPATH": f"{recorded.PACKAGE}:{folder}"})
        self.assertEqual("True\nNone\n", trace.stdout)
        self.assertEqual(["backward"], trace.names("backward"))

    def test_nothing_happens_where_it_is_not_wanted(self):
        program = "import torch\ntorch.ones(1, requires_grad=True).sum().backward()\n"
        for environment in ({"SONDE_SOURCES": "-torch"}, {"SONDE_SOURCES": "nvtx,net"}, {"SONDE_SESSION": ""}):
            self.assertEqual([], recorded.run(program, environment=environment).slices, environment)
        for environment in ({"SONDE_SOURCES": "-net"}, {"SONDE_SOURCES": "+io"}, {"SONDE_SOURCES": "nvtx,torch"}, {}):
            self.assertTrue(recorded.run(program, environment=environment).slices, environment)

    def test_a_sonde_of_the_programs_own_is_left_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "sonde.py").write_text("print('mine')\n")
            trace = recorded.run("import sys\nprint('start')\nimport torch\nimport sonde\n",
                                 environment={"PYTHONPATH": f"{folder}:{recorded.PACKAGE}"})
        self.assertEqual(("start\nmine\n", ""), (trace.stdout, trace.stderr))

    def test_torch_keeps_its_loader_and_the_finder_leaves(self):
        trace = recorded.run("""
            import inspect, sys
            before = len(sys.meta_path)
            import torch
            print(type(torch.__loader__).__name__, torch.__spec__.loader is torch.__loader__,
                  before - len(sys.meta_path), len(inspect.getsource(torch)) > 100)
        """)
        self.assertRegex(trace.stdout, r"SourceFileLoader True \d True")

    def test_a_program_without_torch_loads_nothing(self):
        trace = recorded.run("import sys\nprint([name for name in sys.modules if 'sonde' in name])\n")
        self.assertEqual("[]\n", trace.stdout)


if __name__ == "__main__":
    unittest.main()
