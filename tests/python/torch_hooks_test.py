"""The PyTorch hooks on a real torch, under the library that logs what it is called with."""
import pathlib
import tempfile
import textwrap
import unittest

import recorded
from training_programs import EVERYTHING, MODEL

LOOP = MODEL + """
for batch in DataLoader(data, 8):
    print(repr(step(batch).item()))
"""


def run(program, **options):
    return recorded.run(MODEL + textwrap.dedent(program), **options)


class Hooks(unittest.TestCase):
    def check_nesting(self, trace):
        self.assertFalse([one.path() for one in trace.slices if one.crossed])
        self.assertFalse([one.path() for one in trace.slices if one.end is None])
        self.assertFalse([key for key in trace.metadata if key.startswith("sonde.torch")], trace.metadata)

    def complete(self, trace):
        return [one for one in trace.of("iteration") if one.arguments.get("complete", 1)]


class Loops(Hooks):
    def test_iterations_hold_their_parts(self):
        trace = recorded.run(LOOP)
        self.check_nesting(trace)
        iterations = trace.of("iteration")
        self.assertEqual([{"number": number} for number in range(4)], [one.arguments for one in iterations])
        for iteration in iterations:
            inside = [one.kind for one in trace.slices if one.parent is iteration]
            self.assertEqual(["data_load", "forward", "backward", "optimizer"], inside)
        self.assertEqual(["Net", "first", "rest", "rest.0", "rest.1"], trace.names("module")[:5])
        self.assertEqual(("iteration", "forward", "Net", "rest", "rest.1"), trace.of("module")[4].path())
        self.assertEqual(["SGD.step"] * 4, trace.names("optimizer"))
        self.assertEqual([("8", "0", "0")] * 4, [one[2:] for one in trace.infos])

    def test_losses_are_the_printed_ones(self):
        trace = recorded.run(LOOP)
        printed = [float(line) for line in trace.stdout.split()]
        self.assertEqual(printed, [float(one[3]) for one in trace.scalars])
        self.assertEqual({"loss"}, {one[2] for one in trace.scalars})
        for loss, iteration in zip(trace.scalars, trace.of("iteration")):
            self.assertTrue(iteration.begin < loss[0] < iteration.end)

    def test_losses_of_every_precision(self):
        trace = run("""
            for kind in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
                loss = (torch.full((2,), 1 / 3, dtype=kind, requires_grad=True) * 3.3).sum()
                loss.backward()
                print(repr(loss.item()))
            x = torch.ones(2, requires_grad=True)
            (x * 2).backward(torch.ones(2))                      # no single value
            torch.autograd.backward([(x * 3).sum(), (x * 4).sum()])
            print("6.0")
            scaled = (loss := (x * 5).sum()) * 1024
            from sonde._torch import losses
            losses.READER.scaled(scaled, loss)                     # as GradScaler.scale tells
            scaled.backward()
            print("10.0")
        """)
        self.assertEqual([float(line) for line in trace.stdout.split()], [float(one[3]) for one in trace.scalars])

    def test_gradient_accumulation_makes_micro_steps(self):
        trace = run("""
            for number, batch in enumerate(DataLoader(data, 4)):
                loss_of(batch).backward()
                if number % 4 == 3:
                    optimizer.step()
                    optimizer.zero_grad()
        """)
        self.check_nesting(trace)
        self.assertEqual(2, len(trace.of("iteration")))
        second = trace.of("iteration")[1]
        micro = [one for one in trace.of("micro_step") if one.parent is second]
        self.assertEqual(4, len(micro))
        for one in micro:
            inside = [child.kind for child in trace.slices if child.parent is one]
            self.assertEqual(["data_load", "forward", "backward"], inside)
        self.assertEqual(3, sum(one.parent is not second for one in trace.of("micro_step")))
        self.assertEqual([("16", "0", "0")] * 2, [one[2:] for one in trace.infos])

    def test_two_optimizers_make_one_series(self):
        trace = run("""
            other = Net()
            second = torch.optim.Adam(other.parameters())
            for batch in DataLoader(data, 8):
                loss_of(batch).backward()
                optimizer.step()
                loss_of(batch, other).backward()
                second.step()
        """)
        self.check_nesting(trace)
        self.assertEqual(4, len(self.complete(trace)))
        self.assertEqual(["SGD.step", "Adam.step"] * 4, trace.names("optimizer"))
        self.assertEqual([], trace.of("micro_step"))

    def test_nested_optimizers_and_closures_are_one_step(self):
        trace = run("""
            class Lookahead(torch.optim.Optimizer):
                def __init__(self, inner):
                    super().__init__(inner.param_groups, {})
                    self.inner = inner
                def step(self, closure=None):
                    return self.inner.step(closure)
            outer = Lookahead(torch.optim.Adam(net.parameters()))
            def closure():
                outer.zero_grad()
                loss = loss_of(batch)
                loss.backward()
                return loss
            for _ in range(3):
                outer.step(closure)
        """)
        self.check_nesting(trace)
        self.assertEqual(["Lookahead.step"] * 3, trace.names("optimizer"))
        self.assertEqual(("iteration", "Lookahead.step", "backward"), trace.of("backward")[0].path())
        self.assertEqual(3, len(self.complete(trace)))

    def test_the_next_optimizer_takes_over_from_one_that_is_gone(self):
        trace = run("""
            for _ in range(3):
                net = Net()
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(2):
                    loss_of(batch, net).backward()
                    optimizer.step()
        """)
        self.assertEqual(6, len(self.complete(trace)))

    def test_a_step_on_another_thread_ends_the_iteration_at_home(self):
        trace = run("""
            import threading
            for batch in DataLoader(data, 8):
                loss_of(batch).backward()
                thread = threading.Thread(target=optimizer.step)
                thread.start()
                thread.join()
            loss_of(batch)
        """)
        self.check_nesting(trace)
        self.assertEqual(4, len(self.complete(trace)))
        self.assertEqual(1, len({one.tid for one in trace.of("iteration")}))
        self.assertEqual(4, len({one.tid for one in trace.of("optimizer")} - {trace.slices[0].tid}) or 4)

    def test_a_loop_without_a_data_loader_drops_its_tail(self):
        trace = run("""
            for _ in range(3):
                step(batch)
        """)
        self.assertEqual([0, 1, 2], [one.arguments["number"] for one in self.complete(trace)])
        self.assertEqual({"number": 3, "complete": 0}, trace.of("iteration")[3].arguments)


class Evaluations(Hooks):
    def test_an_evaluation_is_one_slice_outside_iterations(self):
        trace = run("""
            for epoch in range(2):
                net.train()
                for batch in DataLoader(data, 8):
                    step(batch)
                net.eval()
                with torch.no_grad():
                    for batch in DataLoader(data, 16):
                        net(batch[0])
        """)
        self.check_nesting(trace)
        self.assertEqual(8, len(trace.of("iteration")))
        self.assertEqual(2, len(trace.of("evaluation")))
        for one in trace.of("evaluation"):
            self.assertIsNone(one.inside("iteration"))
            self.assertEqual(2, sum(child.parent is one and child.name == "Net" for child in trace.slices))
        self.assertFalse([one for one in trace.of("forward") if one.inside("evaluation")])

    def test_evaluation_in_the_middle_of_an_epoch(self):
        trace = run("""
            for number, batch in enumerate(DataLoader(data, 4)):
                step(batch)
                if number == 3:
                    net.eval()
                    with torch.no_grad():
                        net(batch[0])
                    net.train()
        """)
        self.check_nesting(trace)
        self.assertEqual(list(range(8)), [one.arguments["number"] for one in self.complete(trace)])
        self.assertEqual(1, len(trace.of("evaluation")))
        self.assertIsNone(trace.of("evaluation")[0].inside("iteration"))

    def test_a_teacher_is_part_of_the_iteration(self):
        trace = run("""
            teacher = Net().eval()
            for batch in DataLoader(data, 8):
                with torch.no_grad():
                    wanted = teacher(batch[0])
                step((batch[0], wanted))
        """)
        self.check_nesting(trace)
        self.assertEqual(4, len(self.complete(trace)))
        self.assertEqual(3, sum(one.inside("iteration") is not None and one.parent.kind == "iteration"
                                for one in trace.of("module")))

    def test_inference_has_evaluations_and_no_iterations(self):
        trace = run("""
            net.eval()
            with torch.no_grad():
                for batch in DataLoader(data, 8):
                    net(batch[0])
        """)
        self.check_nesting(trace)
        self.assertEqual([], self.complete(trace))
        self.assertEqual(4, len(trace.of("evaluation")))

    def test_checkpoints(self):
        trace = run("""
            import io
            file = io.BytesIO()
            torch.save(net.state_dict(), file)
            file.seek(0)
            torch.load(file)
        """)
        self.assertEqual(["torch.save", "torch.load"], trace.names("checkpoint"))


class Annotations(Hooks):
    def test_iterations_enclose_annotated_steps(self):
        for loop in ("for batch in DataLoader(data, 8):", "for _ in range(4):"):
            trace = run(f"""
                import sonde
                with sonde.phase("train"):
                    {loop}
                        with sonde.operation("train step"):
                            step(batch)
                with sonde.phase("after"):
                    pass
            """)
            self.check_nesting(trace)
            self.assertEqual(4, len(self.complete(trace)), loop)
            self.assertEqual({"phase"}, {one.parent.kind for one in self.complete(trace)
                                         if one.arguments["number"] > 0}, loop)
            self.assertEqual(4, len({id(one.inside("iteration") or one) for one in trace.of("optimizer")}))

    def test_sonde_iteration_overrides(self):
        trace = run("""
            import sonde
            for number in range(3):
                with sonde.iteration(10 + number):
                    step(batch)
        """)
        self.check_nesting(trace)
        self.assertEqual([10, 11, 12], [one.arguments["number"] for one in trace.of("iteration")])

    def test_sonde_evaluation_suspends_iterations(self):
        trace = run("""
            import sonde
            for batch in DataLoader(data, 8):
                step(batch)
                with sonde.evaluation("validation"):
                    net(batch[0])
        """)
        self.check_nesting(trace)
        self.assertEqual(4, len(self.complete(trace)))
        self.assertFalse([one for one in trace.of("evaluation") if one.inside("iteration")])

    def test_iteration_info_of_the_program_wins(self):
        trace = run("""
            import sonde
            for batch in DataLoader(data, 8):
                sonde.iteration_info(samples=5)
                step(batch)
        """)
        self.assertEqual([("5", "0", "0")] * 4, [one[2:] for one in trace.infos])


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

    def test_groups_are_named_alike(self):
        trace = run("""
            import os
            import torch.distributed as dist
            for _ in range(2):
                store = dist.HashStore()
                dist.init_process_group("gloo", store=store, rank=0, world_size=1)
                dist.new_group([0])
                dist.new_group([0])
                dist.destroy_process_group()
        """)
        keys = [one[2] for one in trace.hints if one[2]]
        self.assertEqual("world", keys[0])
        self.assertEqual(6, len(set(keys)), keys)
        self.assertEqual({"0"}, {one[3] for one in trace.hints if one[2]})
        self.assertEqual(["", ""] * 6, [text for one in trace.hints if not one[2] for text in one[2:4]])


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
        for environment in ({"SONDE_SOURCES": "-net"}, {"SONDE_SOURCES": "nvtx,torch"}, {}):
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
