"""Where the PyTorch hooks begin and end iterations, micro-steps and evaluations."""
import textwrap
import unittest

import recorded
from hooked import LOOP, Hooks, run


class Loops(Hooks):
    def test_iterations_hold_their_parts(self):
        trace = recorded.run(LOOP)
        self.check_nesting(trace)
        iterations = trace.of("iteration")
        self.assertEqual([{"sonde.number": number} for number in range(4)], [one.arguments for one in iterations])
        for iteration in iterations:
            inside = [one.kind for one in trace.slices if one.parent is iteration]
            self.assertEqual(["data_load", "forward", "backward", "optimizer"], inside)
        self.assertEqual(["Net", "first", "rest", "rest.0", "rest.1"], trace.names("module")[:5])
        self.assertEqual(("iteration", "forward", "Net", "rest", "rest.1"), trace.of("module")[4].path())
        self.assertEqual(["SGD.step"] * 4, trace.names("optimizer"))
        self.assertEqual([("8", "0", "0")] * 4, [one[2:] for one in trace.infos])

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

    def test_two_backward_passes_a_step_stay_micro_steps(self):
        """They cease when iterations have one each, not when they have few."""
        program = """
            for number, batch in enumerate(DataLoader(data, 2)):
                loss_of(batch).backward()
                if {}:
                    optimizer.step()
                    optimizer.zero_grad()
        """
        trace = run(program.format("number % 2 == 1"))
        self.check_nesting(trace)
        iterations = trace.of("iteration")
        self.assertEqual(8, len(iterations))
        counts = [sum(one.parent is iteration for one in trace.of("micro_step")) for iteration in iterations]
        self.assertEqual([1] + [2] * 7, counts, "what they are is known from the second pass on")
        trace = run(program.format("number in (1, 3) or number > 3"))
        counts = [sum(one.parent is iteration for one in trace.of("micro_step")) for iteration in trace.of("iteration")]
        self.assertEqual([1, 2, 1, 1] + [0] * 10, counts)

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
        self.assertEqual([0, 1, 2], [one.arguments["sonde.number"] for one in self.complete(trace)])
        self.assertEqual({"sonde.number": 3, "sonde.complete": 0}, trace.of("iteration")[3].arguments)


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
        self.assertEqual(list(range(8)), [one.arguments["sonde.number"] for one in self.complete(trace)])
        self.assertEqual(1, len(trace.of("evaluation")))
        self.assertIsNone(trace.of("evaluation")[0].inside("iteration"))

    def test_the_model_inside_wrappers_is_evaluated_in_one_slice(self):
        wrappers = """
            class Wrapper(nn.Module):
                def __init__(self, inside):
                    super().__init__()
                    self.add_module(self.NAME, inside)
                def forward(self, x):
                    return self._modules[self.NAME](x)
                @property
                def module(self):
                    print("read")
                    return self._modules[self.NAME]
            class Compiled(Wrapper):
                NAME = "_orig_mod"
            class Sharded(Wrapper):
                NAME = "_fsdp_wrapped_module"
            Parallel = nn.DataParallel
        """
        for wrapped in ("Compiled(Parallel(net))", "Parallel(Compiled(net))", "Sharded(net)", "Compiled(Sharded(net))"):
            with self.subTest(wrapped=wrapped):
                trace = run(textwrap.dedent(wrappers) + textwrap.dedent(f"""
                    model = {wrapped}
                    for batch in DataLoader(data, 8):
                        loss_of(batch, model).backward()
                        optimizer.step()
                    net.eval()
                    with torch.no_grad():
                        for batch in DataLoader(data, 16):
                            net(batch[0])
                """))
                self.check_nesting(trace)
                self.assertEqual(4, len(self.complete(trace)))
                self.assertEqual(1, len(trace.of("evaluation")))
                self.assertEqual("", trace.stdout)

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
                                         if one.arguments["sonde.number"] > 0}, loop)
            self.assertEqual(4, len({id(one.inside("iteration") or one) for one in trace.of("optimizer")}))

    def test_sonde_iteration_overrides(self):
        trace = run("""
            import sonde
            for number in range(3):
                with sonde.iteration(10 + number):
                    step(batch)
        """)
        self.check_nesting(trace)
        self.assertEqual([10, 11, 12], [one.arguments["sonde.number"] for one in trace.of("iteration")])

    def test_sonde_iteration_overrides_what_an_annotation_around_it_keeps_open(self):
        trace = run("""
            import sonde
            for _ in range(2):
                step(batch)
            with sonde.phase("loop"):
                for number in range(3):
                    with sonde.iteration(10 + number):
                        step(batch)
        """)
        own = [one for one in trace.of("iteration") if one.arguments["sonde.number"] >= 10]
        self.assertEqual([10, 11, 12], [one.arguments["sonde.number"] for one in own])
        last = [one for one in trace.of("iteration") if one.arguments["sonde.number"] == 2]
        self.assertEqual([0], [one.arguments["sonde.complete"] for one in last])
        self.assertLess(last[0].end, own[0].begin)

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


if __name__ == "__main__":
    unittest.main()
