#include "recorder/environment/job_identity.h"

#include <gtest/gtest.h>

namespace sonde::recorder {
namespace {

TEST(JobIdentity, IsUnknownWithoutALauncher) {
  const JobIdentity identity = jobIdentity({"HOME=/root", "WORLD=3"});
  EXPECT_EQ(identity.job, "");
  EXPECT_FALSE(identity.rank);
  EXPECT_FALSE(identity.worldSize);
}

TEST(JobIdentity, ReadsTorchrun) {
  const JobIdentity identity = jobIdentity({"TORCHELASTIC_RUN_ID=abc",
                                            "RANK=5",
                                            "LOCAL_RANK=1",
                                            "WORLD_SIZE=8",
                                            "LOCAL_WORLD_SIZE=4",
                                            "MASTER_ADDR=n0",
                                            "MASTER_PORT=29500",
                                            "SLURM_JOB_ID=7"});
  EXPECT_EQ(identity.job, "abc");
  EXPECT_EQ(identity.rank, 5);
  EXPECT_EQ(identity.localRank, 1);
  EXPECT_EQ(identity.worldSize, 8);
  EXPECT_EQ(identity.localWorldSize, 4);
}

TEST(JobIdentity, ARunIdThatTorchrunGivesToAllIsNone) {
  EXPECT_EQ(
      jobIdentity({"TORCHELASTIC_RUN_ID=none", "MASTER_ADDR=h", "MASTER_PORT=1", "WORLD_SIZE=2"})
          .job,
      "h:1:2");
}

TEST(JobIdentity, PrefersSlurmThenMpiThenTheMaster) {
  EXPECT_EQ(jobIdentity({"SLURM_JOB_ID=7", "SLURM_STEP_ID=0", "PMIX_NAMESPACE=x"}).job,
            "slurm:7.0");
  EXPECT_EQ(jobIdentity({"SLURM_JOB_ID=7"}).job, "slurm:7");
  EXPECT_EQ(jobIdentity({"PMIX_NAMESPACE=x", "MASTER_ADDR=h", "MASTER_PORT=1", "WORLD_SIZE=2"}).job,
            "pmix:x");
  EXPECT_EQ(jobIdentity({"MASTER_ADDR=h", "MASTER_PORT=1"}).job, "") << "needs the world size, too";
}

TEST(JobIdentity, ReadsMpiAndSlurmRanks) {
  const JobIdentity mpi = jobIdentity({"OMPI_COMM_WORLD_RANK=2",
                                       "OMPI_COMM_WORLD_LOCAL_RANK=0",
                                       "OMPI_COMM_WORLD_SIZE=4",
                                       "SLURM_PROCID=9"});
  EXPECT_EQ(mpi.rank, 2);
  EXPECT_EQ(mpi.localRank, 0);
  EXPECT_EQ(mpi.worldSize, 4);
  EXPECT_EQ(jobIdentity({"SLURM_PROCID=9", "SLURM_NTASKS=16"}).rank, 9);
}

TEST(JobIdentity, PassesOverWhatIsNoNumber) {
  EXPECT_EQ(jobIdentity({"RANK=zero", "PMI_RANK=3"}).rank, 3);
  EXPECT_FALSE(jobIdentity({"RANK=-1"}).rank);
  EXPECT_FALSE(jobIdentity({"RANK="}).rank);
}

}  // namespace
}  // namespace sonde::recorder
