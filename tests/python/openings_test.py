"""Scopes of the package `sonde` as they are opened and closed by threads, generators and children, and regions."""
import unittest

import recorded


class Openings(unittest.TestCase):
    def test_one_object_nests_in_itself_and_in_threads(self):
        trace = recorded.run("""
            import sonde, threading
            scope = sonde.operation("again")
            barrier = threading.Barrier(3)
            def work():
                with scope:
                    barrier.wait()
                    with scope:
                        barrier.wait()
                    barrier.wait()
            threads = [threading.Thread(target=work) for _ in range(3)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
            with scope, scope:
                pass
        """)
        self.assertEqual(8, len(trace.slices))
        self.assertTrue(all(one.end and not one.crossed for one in trace.slices))
        self.assertEqual(4, sum(one.path() == ("again", "again") for one in trace.slices))

    def test_interleaved_generators_end_their_own(self):
        trace = recorded.run("""
            import sonde
            def steps(name):
                with sonde.operation(name):
                    yield
            a, b = steps("a"), steps("b")
            next(a), next(b)
            for generator in (a, b):
                next(generator, None)
        """)
        a, b = trace.slices
        self.assertTrue(a.end < b.end and a.crossed)

    def test_an_end_on_another_thread_waits_for_its_own(self):
        trace = recorded.run("""
            import sonde, threading
            def steps():
                with sonde.operation("travels"):
                    yield
            generator = steps()
            next(generator)
            thread = threading.Thread(target=lambda: next(generator, None))
            thread.start()
            thread.join()
            with sonde.operation("after"):
                pass
        """)
        travels, after = trace.slices
        self.assertTrue(travels.end < after.begin)
        self.assertEqual(travels.tid, after.tid)
        self.assertIsNone(after.parent)

    def test_a_child_does_not_end_what_its_parent_began(self):
        trace = recorded.run("""
            import os, sonde
            with sonde.operation("parent's"):
                child = os.fork()
                if child == 0:
                    with sonde.operation("child's"):
                        pass
            if child:
                os.waitpid(child, 0)
            else:
                os._exit(0)
        """)
        self.assertEqual(["parent's", "child's"], [one.name for one in trace.slices])
        self.assertTrue(all(one.end for one in trace.slices))  # Recording fails on an end without a begin

    def test_a_scope_that_is_dropped_open_is_closed(self):
        trace = recorded.run("""
            import sonde
            scope = sonde.operation("dropped")
            scope.__enter__()
            del scope
            sonde.operation("never entered").__exit__(None, None, None)
        """)
        self.assertEqual(["dropped"], [one.name for one in trace.slices])
        self.assertIsNotNone(trace.slices[0].end)

    def test_what_is_inside_of_a_module_is_found_by_the_object_itself(self):
        trace = recorded.run("""
            import sys, weakref
            from sonde import _sonde
            class Module: pass
            known, other, gone = Module(), Module(), Module()
            names = {id(known): (weakref.ref(known), "known"), id(other): (weakref.ref(gone), "gone"), 7: 8}
            before = sys.getrefcount(names)
            assert _sonde.inside(known) is None, "nothing is called"
            here = _sonde.here
            assert here.root is None and here.names is None
            here.root = "the outermost"
            for _ in range(3):
                here.names = names
                scope = _sonde.inside(known)
                assert _sonde.inside(other) is None, "another object was there"
                _sonde.leave(scope)
            names[id(other)] = (weakref.ref(other), "other")
            _sonde.leave(_sonde.inside(other))
            try:
                _sonde.leave(None)
            except TypeError:
                pass
            else:
                raise AssertionError("taken")
            here.names = 3
            assert _sonde.inside(known) is None
            here.root = here.names = None
            assert _sonde.inside(known) is None
            assert sys.getrefcount(names) == before, sys.getrefcount(names)
        """)
        self.assertEqual(["known"] * 3 + ["other"], trace.names("module"))

    def test_objects_do_not_leak(self):
        recorded.run("""
            import gc, sonde, sys, tracemalloc
            def work():
                scopes = [sonde.operation(f"name {i}") for i in range(100)]
                for scope in scopes:
                    with scope, scope:
                        pass
            work()
            kind = type(sonde.operation("x"))
            before = sys.getrefcount(kind)
            tracemalloc.start()
            work()
            gc.collect()
            start = tracemalloc.get_traced_memory()[0]
            for _ in range(20):
                work()
            gc.collect()
            grown = tracemalloc.get_traced_memory()[0] - start
            assert sys.getrefcount(kind) == before, (sys.getrefcount(kind), before)
            assert grown < 50_000, grown
        """, environment={"SONDE_TEST_LOG": "/dev/null"})


class Regions(unittest.TestCase):
    """What the PyTorch hooks build iterations from."""

    def test_say_when_an_enclosing_scope_ends_and_when_the_inside_is_empty(self):
        trace = recorded.run("""
            import sonde
            from sonde._sonde import Region
            heard = []
            def listen(region, event):
                heard.append(event)
                if event == "settled":
                    region.end()
                    region.begin(2)
            region = Region(3, "iteration", listen)
            with sonde.phase("train"):
                assert region.begin(1) and not region.begin(1)
                with sonde.operation("step"):
                    assert not region.settled()
                    with sonde.operation("deeper"):
                        pass
                assert heard == ["settled"] and region.is_open
            assert heard == ["settled", "enclosing"] and not region.is_open
            assert not region.end()
        """)
        self.assertFalse(any(one.crossed for one in trace.slices))
        self.assertEqual([("train",), ("train", "iteration"), ("train", "iteration", "step"),
                          ("train", "iteration", "step", "deeper"), ("train", "iteration")],
                         [one.path() for one in trace.slices])
        self.assertEqual([1, 2], [one.arguments["sonde.number"] for one in trace.of("iteration")])

    def test_nest_and_survive_fork_and_bad_listeners(self):
        trace = recorded.run("""
            import os, sonde
            from sonde._sonde import Region
            def bad(region, event):
                raise RuntimeError("never seen")
            outer, inner = Region(3, "outer", bad), Region(4, "inner", bad)
            with sonde.phase("train"):
                outer.begin()
                inner.begin()
                if os.fork() == 0:
                    assert not outer.is_open and not inner.is_open and not outer.end()
                    os._exit(0)
                os.wait()
                assert outer.is_open
        """)
        self.assertEqual("", trace.stderr)
        self.assertTrue(all(one.end and not one.crossed for one in trace.slices))


if __name__ == "__main__":
    unittest.main()
