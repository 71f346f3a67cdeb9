"""The package `sonde`: what it records under a library, and that it is nothing without one."""
import unittest

import recorded

WITHOUT_EXTENSION = "import sys\nsys.modules['sonde._sonde'] = None\n"
EVERYTHING = """
    import sonde
    with sonde.phase("train"):
        with sonde.iteration(7):
            with sonde.operation("rollout") as scope:
                assert scope is not None
                sonde.scalar("loss", 0.1)
                sonde.mark("here")
            sonde.iteration_info(samples=32, tokens=5, flops=1.5e9)
        with sonde.iteration():
            pass
    with sonde.evaluation():
        pass
    with sonde.evaluation("validation"):
        pass
    sonde.metadata("algorithm", "ppo")
    sonde.metadata(seed=3, lr=0.5)
    print("done")
"""


class Package(unittest.TestCase):
    def test_records_every_kind_with_its_numbers(self):
        trace = recorded.run(EVERYTHING)
        self.assertEqual(["train", "iteration", "rollout", "iteration", "evaluation", "validation"],
                         [one.name for one in trace.slices])
        self.assertEqual(["phase", "iteration", "operation", "iteration", "evaluation", "evaluation"],
                         [one.kind for one in trace.slices])
        self.assertEqual(("train", "iteration", "rollout"), trace.slices[2].path())
        self.assertEqual([{"sonde.number": 7}, {}], [one.arguments for one in trace.of("iteration")])
        self.assertEqual([("loss", "0.10000000000000001")], [one[2:] for one in trace.scalars])
        self.assertEqual([("here", "0")], [one[2:] for one in trace.marks])
        self.assertEqual([("32", "5", "1500000000")], [one[2:] for one in trace.infos])
        self.assertEqual({"algorithm": "ppo", "seed": "3", "lr": "0.5"}, trace.metadata)
        self.assertTrue(all(one.end is not None and not one.crossed for one in trace.slices))

    def test_does_nothing_without_a_library(self):
        trace = recorded.run(EVERYTHING, library=None)
        self.assertEqual(("done\n", ""), (trace.stdout, trace.stderr))
        self.assertEqual([], trace.slices)

    def test_runs_without_the_extension(self):
        trace = recorded.run(WITHOUT_EXTENSION + recorded.textwrap.dedent(EVERYTHING)
                             + "\n@sonde.operation('x')\ndef f():\n    return 4\nprint(f())\n")
        self.assertEqual("done\n4\n", trace.stdout)
        self.assertEqual([], trace.slices)

    def test_lets_exceptions_pass_and_closes(self):
        trace = recorded.run("""
            import sonde
            try:
                with sonde.operation("outer"):
                    with sonde.operation("inner"):
                        raise KeyError("mine")
            except KeyError as error:
                print(repr(error))
        """)
        self.assertEqual("KeyError('mine')\n", trace.stdout)
        self.assertEqual([False, False], [one.crossed for one in trace.slices])
        self.assertTrue(all(one.end for one in trace.slices))

    def test_takes_any_text_as_a_name(self):
        trace = recorded.run("""
            import sonde
            for name in ("grün", "", "lone \\ud800", "x" * 500):
                with sonde.operation(name):
                    pass
            for i in range(2000):
                with sonde.operation(f"dynamic {i}"):
                    pass
        """)
        self.assertEqual(["grün", "", "lone \\ud800", "x" * 500], trace.names("operation")[:4])
        self.assertEqual([f"dynamic {i}" for i in range(2000)], trace.names("operation")[4:])

    def test_refuses_and_takes_the_same_everywhere(self):
        """Under a library, without one, and without the extension."""
        calls = """
            operation(5) operation(b"x") operation() operation(name="x") operation("x") operation(print) operation(part)
            phase() phase(name="x") phase(None) evaluation(name="x") evaluation(3) evaluation()
            iteration("a") iteration(1.5) iteration(Index()) iteration(Float()) iteration(2**70) iteration(-1) iteration(None)
            iteration(number=3) iteration(True) iteration(part) iteration(f) iteration(1,2)
            scalar("a",1) scalar("a","x") scalar("a",None) scalar(1,2) scalar("a") scalar(name="a",value=1) scalar("a",Bad())
            mark("m") mark(None) mark(1) mark(name="m")
            metadata("k",object()) metadata(3,4) metadata("k") metadata("k",1,2) metadata() metadata(key="a",value="b")
            iteration_info(Index(),Float(),Float()) iteration_info(3.0) iteration_info(-1,2,3) iteration_info(2**70)
            iteration_info("x",None,"y") iteration_info(Bad(),Bad(),Bad()) iteration_info(samples=1,flops=2)
            iteration_info(1,2,3,4) iteration_info(more=1) operation("x").__class__() operation("x")(int)
        """.split()
        program = f"""
            import functools, sonde
            class Index:
                def __index__(self): return 3
            class Float:
                def __float__(self): return 2.5
            class Bad:
                def __index__(self): raise RuntimeError("mine")
                __float__ = __index__
            def f(): pass
            part = functools.partial(f)
            for call in {calls}:
                try:
                    eval("sonde." + call)
                    print(call, "ok")
                except Exception as error:
                    print(call, type(error).__name__)
        """
        recording = recorded.run(program).stdout
        self.assertEqual(recording, recorded.run(program, library=None).stdout)
        self.assertEqual(recording, recorded.run(WITHOUT_EXTENSION + recorded.textwrap.dedent(program)).stdout)
        refused = {line.rsplit(" ", 1)[0] for line in recording.splitlines() if not line.endswith(" ok")}
        self.assertEqual(set("""
            operation(5) operation(b"x") operation() operation(name="x") operation(part) phase() phase(name="x") phase(None)
            evaluation(3) iteration("a") iteration(1.5) iteration(Float()) iteration(part) iteration(1,2) scalar(1,2)
            scalar("a") scalar(name="a",value=1) mark(None) mark(1) mark(name="m") metadata(3,4) metadata("k")
            metadata("k",1,2) iteration_info(1,2,3,4) iteration_info(more=1) operation("x").__class__() operation("x")(int)
        """.split()), refused)

    def test_a_value_that_is_no_number_harms_nobody(self):
        trace = recorded.run("""
            import sonde
            sonde.scalar("loss", "high")
            sonde.iteration_info(4, "many", -1)
            sonde.iteration_info(-4, float("nan"), 10**400)
            print("alive")
        """)
        self.assertEqual(("alive\n", []), (trace.stdout, trace.scalars))
        self.assertEqual([("4", "0", "-1"), ("0", "0", "0")], [one[2:] for one in trace.infos])
        self.assertIn("not a number", trace.metadata["sonde.scalar"])
        self.assertIn("not a number", trace.metadata["sonde.iteration_info"])

    def test_takes_whatever_tells_its_number(self):
        trace = recorded.run("""
            import sonde
            class Index:
                def __index__(self): return 3
            class Float:
                def __float__(self): return 2.5
            sonde.iteration_info(Index(), Float(), Float())
            sonde.iteration_info(True, 2**64 - 1, Index())
            sonde.scalar("index", Index())
            with sonde.iteration(Index()):
                pass
            with sonde.iteration(2**70):
                pass
        """)
        self.assertEqual([("3", "2", "2.5"), ("1", str(2**64 - 1), "3")], [one[2:] for one in trace.infos])
        self.assertEqual([("index", "3")], [one[2:] for one in trace.scalars])
        self.assertEqual([{"sonde.number": 3}, {}], [one.arguments for one in trace.of("iteration")])
        self.assertIn("too large", trace.metadata["sonde.iteration"])

    def test_an_interruption_passes(self):
        for call in ("scalar('loss', Long())", "iteration_info(Long())", "iteration_info(flops=Long())"):
            trace = recorded.run(f"""
                import sonde
                class Long:
                    def __index__(self): raise KeyboardInterrupt
                    __float__ = __index__
                try:
                    sonde.{call}
                except KeyboardInterrupt:
                    print("interrupted")
            """)
            self.assertEqual("interrupted\n", trace.stdout, call)

    def test_records_nothing_while_switched_off(self):
        trace = recorded.run(EVERYTHING, environment={"SONDE_TEST_OFF": "1"})
        self.assertEqual(([], []), (trace.slices, trace.scalars))


class Decorators(unittest.TestCase):
    def test_wrap_functions_generators_and_coroutines(self):
        trace = recorded.run("""
            import asyncio, inspect, sonde
            @sonde.operation("plain")
            def plain(x: int = 1) -> int:
                "doc"
                return x if x == 0 else plain(x - 1)
            @sonde.phase
            def bare():
                with sonde.operation("in bare"):
                    return 1
            @sonde.operation("steps")
            def steps():
                got = yield 1
                assert got == "sent"
                return "returned"
            @sonde.operation("waits")
            async def waits():
                await asyncio.sleep(0)
                return 2
            assert plain(2) == 0 and bare() == 1 and plain.__name__ == "plain" and plain.__doc__ == "doc"
            assert str(inspect.signature(plain)) == "(x: int = 1) -> int"
            generator = steps()
            assert next(generator) == 1
            try:
                generator.send("sent")
            except StopIteration as stop:
                assert stop.value == "returned"
            assert asyncio.run(waits()) == 2 and inspect.iscoroutinefunction(waits)
        """)
        self.assertEqual(["plain", "plain", "plain", "bare", "in bare", "steps", "waits"],
                         [one.name for one in trace.slices])
        self.assertEqual(("plain", "plain", "plain"), trace.slices[2].path())
        self.assertTrue(all(one.end for one in trace.slices))

    def test_leave_the_function_alone_without_a_library(self):
        recorded.run("""
            import sonde
            def f(): return 1
            assert sonde.operation("x")(f) is f and sonde.phase(f) is f and sonde.iteration(f) is f
        """, library=None)

    def test_refuse_classes_and_asynchronous_generators(self):
        for library in (recorded.LIBRARY, None):
            trace = recorded.run("""
                import sonde
                async def numbers(): yield 1
                for wrong in (int, numbers, "text"):
                    try:
                        sonde.operation("x")(wrong)
                    except TypeError as error:
                        print(error)
            """, library=library)
            self.assertEqual(3, trace.stdout.count("sonde: "))


if __name__ == "__main__":
    unittest.main()
