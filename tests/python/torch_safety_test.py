"""The PyTorch hooks change nothing of the program, whatever it does and whatever goes wrong in them."""
import textwrap
import unittest

import recorded
from hooked import Hooks, run
from training_programs import EVERYTHING, MODEL


class Safety(Hooks):
    def test_results_output_and_exit_are_the_same(self):
        bare = recorded.run(EVERYTHING, library=None, check=False)
        hooked = recorded.run(EVERYTHING, check=False)
        self.assertEqual(7, bare.process.returncode, bare.stderr)
        self.assertEqual((bare.stdout, 7, bare.stderr), (hooked.stdout, hooked.process.returncode, hooked.stderr))
        self.check_nesting(hooked)
        self.assertTrue(hooked.of("iteration") and hooked.of("evaluation") and hooked.of("checkpoint"))

    def test_an_exception_closes_what_it_leaves(self):
        trace = run("""
            class Broken(nn.Module):
                def forward(self, x):
                    raise KeyError("mine")
            for model in (nn.Sequential(Broken()), nn.Sequential(nn.Linear(4, 4))):
                try:
                    model(batch[0])
                except KeyError as error:
                    print(repr(error))
        """)
        self.check_nesting(trace)
        self.assertEqual("KeyError('mine')\n", trace.stdout)
        self.assertEqual(["Sequential", "0", "Sequential", "0"], trace.names("module"))

    def test_an_error_of_ours_switches_one_hook_off_and_is_noted(self):
        trace = run("""
            from sonde._torch import modules
            def broken(module):
                raise ValueError("internal")
            modules.names_of = broken
            for batch in DataLoader(data, 8):
                step(batch)
            print("fine")
        """)
        self.assertEqual(("fine\n", ""), (trace.stdout, trace.stderr))
        self.assertRegex(trace.metadata["sonde.torch.modules"], "switched off: ValueError: internal at broken")
        self.assertEqual(([], 4), (trace.of("module"), len(trace.of("optimizer"))))

    def test_workers_and_children_make_no_iterations(self):
        for method in ("fork", "spawn"):
            trace = recorded.run("if __name__ == '__main__':\n" + textwrap.indent(MODEL + textwrap.dedent(f"""
                loader = DataLoader(data, 8, num_workers=2, multiprocessing_context="{method}",
                                    persistent_workers=True)
                for epoch in range(2):
                    for batch in loader:
                        step(batch)
            """), "    "))
            self.check_nesting(trace)
            self.assertEqual(8, len(trace.of("iteration")), method)
            self.assertEqual(1, len({one.pid for one in trace.slices}), method)

    def test_names_survive_models_that_come_and_go(self):
        trace = run("""
            for _ in range(50):
                Net()(batch[0])
            from sonde._torch import modules
            assert len(modules.NAMES) < 3 and len(modules.TRAINED) < 3
            net.extra = nn.Linear(1, 1)
            net.forward = lambda x: net.extra(net.first(x)[:, :1])
            net(batch[0])
        """)
        self.assertEqual(["Net", "first", "rest", "rest.0", "rest.1"] * 50 + ["Net", "first", "extra"],
                         trace.names("module"))


if __name__ == "__main__":
    unittest.main()
