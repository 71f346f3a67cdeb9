"""What the mpi_*_test.py files share: MPI jobs under `sonde run`, of the MPI that SONDE_MPI names."""
import os

from run_support import SONDE, TARGETS, RunTest

MPI = os.environ["SONDE_MPI"]
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
           "OMPI_MCA_hwloc_base_binding_policy": "none"}


class MpiTest(RunTest):
    def setUp(self):
        super().setUp()
        self.environment.update(AS_ROOT)

    @staticmethod
    def program(name):
        return str(TARGETS / f"{name}.{MPI}")

    def mpirun(self, *command, ranks=4):
        return (f"mpirun.{MPI}", "-n", str(ranks), *map(str, command))

    def job(self, name, *arguments, ranks=4, sources="annotation,mpi", timeout=120):
        """One `sonde run` around all ranks."""
        result = self.run_sonde(*self.mpirun(self.program(name), *arguments, ranks=ranks),
                                options=("-f", "--sources", sources), timeout=timeout)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result

    def calls(self):
        return dict(self.rows("SELECT name, count(*) FROM v_slice WHERE category = 'mpi' AND name NOT IN "
                              "('MPI_Init', 'MPI_Init_thread', 'MPI_Finalize') GROUP BY 1"))

    def check_paired(self, messages):
        """Each of so many messages has both its ends, and both say the same."""
        self.assertEqual(self.rows("SELECT direction, count(*) FROM v_transfer WHERE kind = 'mpi' GROUP BY 1 ORDER BY 1"),
                         [("receive", messages), ("send", messages)])
        self.assertEqual(self.rows("SELECT count(*), sum(bytes = received_bytes), sum(exact) FROM v_message"),
                         [(messages, messages, messages)])
        self.assertEqual(self.rows("SELECT * FROM loss"), [])


__all__ = ["MPI", "MpiTest", "SONDE", "TARGETS"]
