"""What the nccl_*_test.py files share: two ranks as two processes on a stand-in for NCCL (tests/ncclsim)."""
from run_support import TARGETS, RunTest

VERSIONS = ("1", "2", "3", "4", "5", "6")
NONE = {"NCCL_PROFILER_PLUGIN": "none"}
VARIANTS = [{"NCCLSIM_PLUGIN": version} for version in VERSIONS] + [NONE]
# Both ranks of a job, in one trace.
RANKS = 'RANK=0 WORLD_SIZE=2 "$@" & other=$!; RANK=1 WORLD_SIZE=2 "$@" || exit; wait $other'
K = 4096  # bytes of a buffer


class NcclTest(RunTest):
    program = TARGETS / "nccl_job"

    def job(self, *words, ranks=2, options=(), status=0, **environment):
        command = ("sh", "-c", RANKS, "sh") if ranks == 2 else ()
        identifier = self.folder / "id"
        identifier.unlink(missing_ok=True)
        result = self.run_sonde(*command, self.program, identifier, *words, options=("-f", *options), env=environment)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def ranks(self):
        return self.rows("SELECT DISTINCT c.process_id, m.position FROM communicator c JOIN communicator_member m ON "
                         "m.communicator_id = c.id AND m.process_id = c.process_id ORDER BY 2")

    def names(self, kind):
        return dict(self.rows(f"SELECT name, count(*) FROM v_slice WHERE kind = '{kind}' AND category = 'nccl' GROUP BY 1"))

    def args(self, key):
        return self.rows(f"SELECT owner_id, value FROM v_arg WHERE owner = 'collective' AND key = '{key}' ORDER BY 1")
