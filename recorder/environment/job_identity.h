// The job and rank of a process, from the environment that torchrun, MPI or Slurm gives it. Plain
// functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sonde::recorder {

struct JobIdentity {
  std::string job;  // meta.job: equal for all ranks of a job, empty if unknown
  std::optional<int> rank;
  std::optional<int> localRank;
  std::optional<int> worldSize;
  std::optional<int> localWorldSize;
};

// `environment`: entries NAME=VALUE.
JobIdentity jobIdentity(const std::vector<std::string>& environment);

std::optional<std::string> findVariable(const std::vector<std::string>& environment,
                                        const std::string& name);

}  // namespace sonde::recorder
