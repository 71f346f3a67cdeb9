"""What tests of the CUDA probe share: programs on the simulated device, and what the device did.

The device's truth and the trace are one clock: with SONDE_TEST_CLOCK ticks are nanoseconds, a constant away from the
trace's.
"""
import json

from run_support import TARGETS, RunTest

VARIANTS = ("12", "13")
COPIES = {"memcpy", "memcpy2", "memset"}


def folder_of(variant):
    return TARGETS.parent / "cudasim" / f"cuda{variant}"


class CudaTest(RunTest):
    def record(self, program, *arguments, variant="13", status=0, options=(), timeout=60, **environment):
        self.truth = self.folder / "truth.json"
        self.truth.unlink(missing_ok=True)
        result = self.run_sonde(program, *arguments, options=("-f", *options), timeout=timeout, env={
            "CUDASIM_TRUTH": str(self.truth), "SONDE_TEST_CLOCK": "0,0",
            "LD_LIBRARY_PATH": str(folder_of(variant)), **environment})
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def script(self, script, variant="13", **keywords):
        path = self.folder / "script"
        path.write_text(script)
        return self.record(TARGETS / f"cuda_script{variant}", path, variant=variant, **keywords)

    def happened(self, *kinds, traced=True):
        lines = [json.loads(line) for line in self.truth.read_text().splitlines()]
        return [line for line in lines if line["kind"] in kinds and (line.get("traced") == 1 or not traced)]

    def epoch(self):
        """What is added to a tick to make a time of the trace: the same for all, so that of one call."""
        correlation, ns = self.rows("SELECT correlation_id, start_ns FROM slice WHERE category = 'cuda_runtime' LIMIT 1")[0]
        call, = (line for line in self.happened("runtime") if line["correlation"] == correlation)
        return ns - call["start"]

    def said(self):
        return [text for (text,) in self.rows("SELECT value FROM v_arg WHERE owner = 'process' AND key = 'cuda'")]

    def assert_same(self, rows, truth, what):
        rows, truth = sorted(rows), sorted(truth)
        differing = [(row, line) for row, line in zip(rows, truth) if row != line][:3]
        self.assertEqual((len(rows), differing), (len(truth), []), what)
        self.assertTrue(truth, f"the script makes {what}")


MIXED = """
thread first
alloc name=a bytes=1048576
copy kind=htod bytes=1048576 stream=1
launch name=gemm ns=50000 stream=1 count=5
record event=done stream=1
wait event=done stream=2
launch name=reduce ns=20000 stream=2 count=3
copy kind=dtod bytes=4096 stream=3
set bytes=4096 stream=4
graph nodes=3 ns=10000 stream=2 launches=2
launch name=_Z4gemmIfEvPT_i ns=100000 stream=4
peer to=1 bytes=65536 stream=3
wait_host event=done
sync stream=2
sync
copy kind=dtoh bytes=1048576 sync=1
free name=a
thread second
launch name=other ns=80000 stream=5 dev=1 count=20
launch name=more ns=60000 stream=6 dev=1 count=20
launch name=more ns=60000 stream=7 dev=1 count=20
launch name=more ns=60000 stream=8 dev=1 count=20
compile ns=30000
sync dev=1
"""
