"""The usual case of the PyTorch hooks, which the extension takes by itself, records what the hooks in Python would."""
import os
import textwrap
import unittest

import recorded
from hooked import Hooks
from training_programs import MODEL

# Disables the fast path: its functions are requested before torch is imported, when the hooks fetch them.
LONG_WAY = """
from sonde import _sonde
_sonde.inside = _sonde.inside_step = lambda _: None
_sonde.inside_backward = lambda: None
"""

COUNTED = """
from sonde import _sonde
taken = {"inside": 0, "inside_step": 0, "inside_backward": 0}
def counted(name, function):
    def call(*arguments):
        scope = function(*arguments)
        taken[name] += scope is not None
        return scope
    setattr(_sonde, name, call)
for name in taken:
    counted(name, getattr(_sonde, name))
"""

# A training with all kinds of events, in a random order for each seed.
RANDOM = MODEL + """
import contextlib, random, sys, threading, torch.utils.checkpoint
import sonde
chance = random.Random(int(sys.argv[1]))
nets = [net, Net(), nn.DataParallel(Net())]
optimizers = [torch.optim.SGD(one.parameters(), lr=0.01) for one in nets]
losses, open_scopes = [], contextlib.ExitStack()
iterator = iter(())
def some():
    return chance.choices(range(3), (8, 1, 1))[0]
def forward():
    losses.append(loss_of(batch, nets[some()]))
def backward():
    loss = losses.pop() if losses else loss_of(batch)
    retain = chance.random() < 0.2
    with contextlib.suppress(RuntimeError):  # weights have been stepped since, or there are no gradients
        loss.backward(retain_graph=retain)
def step():
    optimizers[some()].step()
def all_three():
    chosen = some()
    loss_of(batch, nets[chosen]).backward()
    optimizers[chosen].step()
def closure():
    def again():
        loss = loss_of(batch)
        loss.backward()
        return loss
    optimizer.step(again)
def without_gradients():
    with torch.no_grad():
        forward()
def recomputed():
    x = batch[0].clone().requires_grad_()
    torch.utils.checkpoint.checkpoint(net, x).sum().backward()
def gradients():
    x = batch[0].clone().requires_grad_()
    torch.autograd.grad(net(x).sum(), x)
def fails():
    with contextlib.suppress(RuntimeError):
        net(torch.ones(2, 5))
def fails_backward():
    with contextlib.suppress(RuntimeError):
        torch.ones(2).backward()
def on_a_thread():
    thread = threading.Thread(target=chance.choice((forward, all_three, step)))
    thread.start()
    thread.join()
def grows():
    nets[0].rest.append(nn.Identity()) if len(nets[0].rest) < 6 else None
def is_replaced():
    nets[1] = Net()
    optimizers[1] = torch.optim.SGD(nets[1].parameters(), lr=0.01)
def loads():
    global iterator
    if next(iterator, None) is None:
        iterator = iter(DataLoader(data, 8))
def opens():
    open_scopes.enter_context(sonde.operation("opened"))
def closes():
    open_scopes.close()
def evaluated():
    with sonde.evaluation():
        without_gradients()
def overrides():
    if chance.random() < 0.2:
        for _ in range(3):
            with sonde.iteration():
                all_three()
usual = [forward, backward, step, all_three, loads]
rare = [closure, without_gradients, recomputed, gradients, fails, fails_backward, on_a_thread, grows, is_replaced, opens,
        closes, evaluated, overrides, lambda: nets[some()].eval(), lambda: nets[some()].train()]
def train():
    for _ in range(40):
        chance.choice(usual if chance.random() < 0.8 else rare)()
        del losses[:-4]
    closes()
for part in range(3):  # of every second seed on threads that come and go
    trainer = threading.Thread(target=train if int(sys.argv[1]) % 2 else lambda: None)
    trainer.start()
    trainer.join()
    if int(sys.argv[1]) % 2 == 0:
        train()
"""


class Usual(Hooks):
    def slices(self, trace):
        threads = list(dict.fromkeys(one.tid for one in trace.slices))
        return [(one.kind, one.name, threads.index(one.tid), one.begin, one.end, sorted(one.arguments.items()))
                for one in trace.slices]

    def test_random_programs_are_recorded_as_the_long_way_does(self):
        for seed in range(12 if os.environ.get("SONDE_SLOW") else 4):
            with self.subTest(seed=seed):
                short, long = (recorded.run(way + textwrap.dedent(RANDOM), arguments=[str(seed)]) for way in ("", LONG_WAY))
                self.assertEqual(self.slices(long), self.slices(short))
                self.assertEqual([one[2:] for one in long.scalars], [one[2:] for one in short.scalars])
                self.assertEqual([one[2:] for one in long.infos], [one[2:] for one in short.infos])
                self.assertFalse([key for key in short.metadata if key.startswith("sonde.torch")], short.metadata)

    def test_a_plain_loop_takes_the_short_way(self):
        for wrap in ("contextlib.nullcontext", "sonde.iteration"):
            trace = recorded.run(COUNTED + MODEL + textwrap.dedent(f"""
                import contextlib, sonde
                for number in range(20):
                    with {wrap}():
                        step(batch)
                print(taken["inside"], taken["inside_backward"], taken["inside_step"])
            """))
            inside, backward, steps = map(int, trace.stdout.split())
            self.assertGreaterEqual(inside, 5 * 18)  # a root and the four modules in it
            self.assertGreaterEqual(backward, 18)
            self.assertGreaterEqual(steps, 18)
            self.check_nesting(trace)

    def test_batches_of_an_iteration_that_waits_for_an_annotation_are_counted_once(self):
        program = textwrap.dedent("""
            import sonde
            loader = iter(DataLoader(data, 8))
            def load_and_step():
                loss_of(next(loader)).backward()
                optimizer.step()
            load_and_step()
            with sonde.operation("holds a step"):
                load_and_step()
                load_and_step()
            load_and_step()
        """)
        trace = recorded.run(MODEL + program)
        self.assertEqual(["8", "16", "8"], [one[2] for one in trace.infos])  # the last of an iteration is its number

    def test_threads_call_one_model(self):
        trace = recorded.run(MODEL + textwrap.dedent("""
            import sys, threading
            sys.setswitchinterval(1e-6)
            for _ in range(3):
                step(batch)
            def work():
                for _ in range(200):
                    loss_of(batch).backward()
            threads = [threading.Thread(target=work) for _ in range(3)]
            for thread in threads:
                thread.start()
            work()
            for thread in threads:
                thread.join()
        """))
        self.check_nesting(trace)
        self.assertEqual("", trace.stderr)
        self.assertEqual(803, trace.names("module").count("Net"))
        self.assertEqual(803, len(trace.of("backward")))

    def test_an_interrupt_while_it_is_looked_at_reaches_the_program(self):
        trace = recorded.run(MODEL + textwrap.dedent("""
            from sonde._torch.training import TRAINING
            for _ in range(3):
                step(batch)
            skips, due = TRAINING.skips, []
            def interrupted():
                if due and due.pop():
                    raise KeyboardInterrupt
                return skips() if callable(skips) else None
            TRAINING.skips = interrupted
            loss = loss_of(batch)
            for call in (lambda: net(batch[0]), loss.backward, optimizer.step):
                due.append(True)
                try:
                    call()
                except KeyboardInterrupt:
                    print("interrupted")
            TRAINING.skips = skips
            for _ in range(3):
                step(batch)
        """))
        self.assertEqual(["interrupted"] * 3, trace.stdout.splitlines())
        self.check_nesting(trace)
        self.assertEqual(7, len(trace.of("forward")))
        self.assertEqual(6, len(trace.of("optimizer")))

    def test_what_was_entered_and_not_left_is_over(self):
        trace = recorded.run(MODEL + textwrap.dedent("""
            from sonde import _sonde
            for _ in range(3):
                step(batch)
            loss = loss_of(batch)
            _sonde.inside(net)        # as when an interrupt comes before the program gets to leave()
            _sonde.inside_backward()
            _sonde.inside_step("SGD.step")
            print(_sonde.here.root, _sonde.here.backward, _sonde.here.stepping)
            for _ in range(3):
                step(batch)
        """))
        self.assertEqual(["None 0 False"], trace.stdout.splitlines())
        self.check_nesting(trace)
        self.assertEqual(8, len(trace.of("forward")))
        self.assertEqual(7, len(trace.of("backward")))

    def test_an_error_of_a_hook_ends_the_short_way_too(self):
        trace = recorded.run(MODEL + textwrap.dedent("""
            from sonde._torch import modules
            for _ in range(2):
                step(batch)
            def broken(module):
                raise ValueError("broken")
            modules.is_trained = broken
            net.eval()                # asks it
            net.train()
            for _ in range(2):
                step(batch)
        """))
        self.assertEqual(2, len(trace.of("forward")))
        self.assertEqual(10, len(trace.of("module")))
        self.assertIn("broken", trace.metadata["sonde.torch.modules"])

    def test_a_class_with_attributes_of_its_own_is_asked_for_none(self):
        trace = recorded.run(MODEL + textwrap.dedent("""
            class Odd(Net):
                asked = []
                def __getattribute__(self, name):
                    Odd.asked.append(name)
                    return super().__getattribute__(name)
            odd = Odd()
            for _ in range(3):
                loss_of(batch, odd).backward()
            Odd.asked.clear()
            loss = loss_of(batch, odd)
            print(Odd.asked.count("training"))
        """))
        self.assertEqual(["0"], trace.stdout.splitlines())
        self.assertEqual(4, trace.names("module").count("Odd"))


if __name__ == "__main__":
    unittest.main()
