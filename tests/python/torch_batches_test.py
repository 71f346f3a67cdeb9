"""The PyTorch hooks look at batches, samplers and modules without running a line of the program's code."""
import textwrap
import unittest

import recorded
from hooked import Hooks
from training_programs import MODEL

# Classes that define all methods themselves and print each call, and a loop over batches of one of them.
OVERRIDES = MODEL + """
import collections, collections.abc, warnings
from torch.overrides import TorchFunctionMode
warnings.simplefilter("ignore")  # of nested tensors, which are a prototype
def ran(what):
    print("ran", getattr(what, "__name__", what))
class Spoken:
    def __len__(self): ran("len"); return 8
    def __bool__(self): ran("bool"); raise RuntimeError("neither true nor false")
    def __iter__(self): ran("iter"); return iter([torch.ones(8)])
    def __getitem__(self, at): ran("getitem"); return torch.ones(8)
    def __getattr__(self, name): ran(name); raise AttributeError(name)
    def __eq__(self, other): ran("eq"); return False
    def values(self): ran("values"); return iter([torch.ones(8)])
    __hash__ = None
    __class__ = property(lambda self: ran("class") or list)
class Object(Spoken): pass
class Listed(Spoken, collections.abc.Sequence): pass
class Mapped(Spoken, collections.abc.Mapping): pass
class List(Spoken, list): pass
class Dict(Spoken, dict): pass
class Wrapped(Spoken, collections.UserDict): pass
Pair = collections.namedtuple("Pair", "x y")
class SpokenPair(Spoken, Pair): pass
class Image(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        ran(function)
        return super().__torch_function__(function, types, args, kwargs or {})
    shape = property(lambda self: ran("shape"))
class Seen(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        ran(function)
        return function(*args, **(kwargs or {}))
def wrapped():
    batch = Wrapped.__new__(Wrapped)
    batch.__dict__["data"] = {"x": torch.ones(8, 4)}
    return batch
def dispatched():
    class Dispatched(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
            ran(function)
            return function(*args, **(kwargs or {}))
    return Dispatched(torch.ones(8, 4))
def train(batch, sampler=None):
    for taken in DataLoader(range(24), batch_size=8, sampler=sampler, collate_fn=lambda _: batch):
        loss_of([torch.ones(8, 4), torch.ones(8, dtype=torch.long)]).backward()
        optimizer.step()
        optimizer.zero_grad()
"""


class Untouched(Hooks):
    def both(self, program):
        """What is recorded of a program that prints the same with and without the hooks."""
        text = OVERRIDES + textwrap.dedent(program)
        bare, trace = recorded.run(text, library=None), recorded.run(text)
        self.assertEqual((bare.stdout, bare.stderr), (trace.stdout, trace.stderr))
        self.check_nesting(trace)
        return trace


class Batches(Untouched):
    def samples(self, *batches):
        """Of all iterations that were told any; there are three over each kind of batch."""
        trace = self.both("".join(f"train({batch})\n" for batch in batches))
        self.assertEqual(4 * len(batches), trace.names("data_load").count("data_load"))
        self.assertEqual(3 * len(batches), len(self.complete(trace)))
        return [int(one[2]) for one in trace.infos]

    def test_samples_are_counted_in_what_python_and_torch_made(self):
        batches = ("torch.ones(8, 4)", "(torch.ones(8), 1)", "[[torch.ones(8)]]", "{'x': torch.ones(8)}",
                   "Pair(torch.ones(8), 1)", "collections.OrderedDict(x=torch.ones(8))",
                   "nn.Parameter(torch.ones(8, 4))")
        self.assertEqual([8] * 3 * len(batches), self.samples(*batches))

    def test_samples_are_counted_past_what_the_program_overrides(self):
        batches = ("torch.ones(8, 4).as_subclass(Image)", "List([torch.ones(8)])", "Dict(x=torch.ones(8))",
                   "SpokenPair(torch.ones(8), 1)", "wrapped()")
        self.assertEqual([8] * 3 * len(batches), self.samples(*batches))

    def test_of_other_objects_samples_are_unknown(self):
        self.assertEqual([], self.samples(
            "torch.ones(8, 4).numpy()", "(torch.ones(8, 4).numpy(),)", "{'x': torch.ones(8).numpy()}",
            "Object()", "Listed()", "Mapped()", "[Object()]", "dispatched()", "[]", "{}", "None", "'text'",
            "torch.tensor(1)", "torch._nested_tensor_from_mask(torch.ones(8, 2, 4), torch.ones(8, 2) > 0)"))

    def test_modes_of_the_program_do_not_see_what_is_read(self):
        trace = self.both("""
            loader = iter(DataLoader(range(8), batch_size=8, collate_fn=lambda _: torch_ones))
            torch_ones, loss = torch.ones(8), loss_of(batch)
            with Seen():
                next(loader)
                torch.autograd.backward([loss])
            optimizer.step()
        """)
        self.assertEqual((["8"], 1), ([one[2] for one in trace.infos], len(trace.scalars)))

    def test_a_sampler_is_asked_for_its_length_once_in_an_epoch(self):
        trace = recorded.run(OVERRIDES + textwrap.dedent("""
            class Sampler(torch.utils.data.Sampler):
                asked = 0
                def __init__(self): pass
                def __iter__(self): return iter(range(24))
                def __len__(self):
                    Sampler.asked += 1
                    return 24
            train(torch.ones(8), Sampler())
            train(torch.ones(8), Sampler())
            print(Sampler.asked)
        """))
        self.assertEqual("2\n", trace.stdout)
        self.assertEqual([3, 3], [len([one for one in self.complete(trace) if one.arguments["sonde.number"] in epoch])
                                  for epoch in (range(3), range(3, 6))])

    def test_a_sampler_without_a_length_harms_nobody(self):
        trace = self.both("""
            class Sampler(torch.utils.data.Sampler):
                def __init__(self): pass
                def __iter__(self): return iter(range(24))
                def __len__(self): raise LookupError("not known yet")
            train(torch.ones(8), Sampler())
        """)
        self.assertEqual((4, 3), (trace.names("data_load").count("data_load"), len(self.complete(trace))))

    def test_an_error_in_counting_ends_the_counting_alone(self):
        trace = recorded.run(OVERRIDES + textwrap.dedent("""
            from sonde._torch import loading
            def broken(self, batch):
                raise ValueError("internal")
            loading.Samples.count = broken
            train(torch.ones(8))
        """))
        self.assertIn("ValueError: internal", trace.metadata["sonde.torch.samples"])
        self.assertEqual((4, 3, []),
                         (trace.names("data_load").count("data_load"), len(self.complete(trace)), trace.infos))


class Modules(Untouched):
    def test_modules_are_named_past_what_the_program_overrides(self):
        trace = self.both("""
            class Quiet(nn.Module):
                def named_modules(self, *args, **kwargs): ran("named_modules"); return iter(())
                def __eq__(self, other): ran("eq"); return self is other
                def __hash__(self): ran("hash"); return 1
                def __getattr__(self, name): ran("getattr " + name); return super().__getattr__(name)
                def __getattribute__(self, name):
                    if name in ("training", "_modules", "module"): ran("getattribute " + name)
                    return super().__getattribute__(name)
            class Outer(Quiet):
                def __init__(self):
                    super().__init__()
                    self.inner = Inner()
                def forward(self, x): return self.inner(x)
            class Inner(Quiet):
                def __init__(self):
                    super().__init__()
                    self.layer = nn.Linear(4, 1)
                def forward(self, x): return self.layer(x)
            outer = Outer()
            print("made")
            outer(torch.ones(8, 4)).sum().backward()
            with torch.no_grad():
                outer(torch.ones(8, 4))
        """)
        self.assertEqual(["Outer", "inner", "inner.layer"] * 2, trace.names("module"))
        self.assertEqual(1, len(trace.of("forward")))

    def test_a_shared_module_has_its_first_name(self):
        trace = self.both("""
            class Outer(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.a = self.b = nn.ReLU()
                    self.rest = nn.Sequential(nn.ReLU(), self.a)
                    self.none = None
                def forward(self, x): return self.rest(self.b(x))
            outer = Outer()
            outer(torch.ones(8))
            import sys
            modules = sys.modules.get("sonde._torch.modules")
            assert modules is None or list(modules.modules_in(outer)) == list(outer.named_modules())
        """)
        self.assertEqual(["Outer", "a", "rest", "rest.0", "a"], trace.names("module"))

    def test_a_mode_that_torch_refuses_harms_nobody(self):
        trace = self.both("""
            net(torch.ones(8, 4)).sum().backward()
            try:
                net.train(Object())
            except ValueError as error:
                print(error)
            net(torch.ones(8, 4))
        """)
        self.assertEqual(2, len(trace.of("forward")))

    def test_a_backward_of_nothing_ends_no_hook(self):
        trace = self.both("""
            torch.autograd.backward([])
            loss_of(batch).backward()
        """)
        self.assertEqual((2, 1), (len(trace.of("backward")), len(trace.scalars)))

    def test_what_is_saved_is_not_asked_for_its_class(self):
        trace = self.both("""
            import io, pickle
            class Saved:
                __class__ = property(lambda self: ran("class") or Saved)
                def __reduce__(self): return int, (3,)
            torch.save(Saved(), io.BytesIO())
        """)
        self.assertEqual(["torch.save"], trace.names("checkpoint"))


if __name__ == "__main__":
    unittest.main()
