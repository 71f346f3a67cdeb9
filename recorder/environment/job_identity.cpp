#include "recorder/environment/job_identity.h"

#include <fmt/format.h>

#include <charconv>
#include <initializer_list>

namespace sonde::recorder {

namespace {

using Environment = std::vector<std::string>;

std::optional<int> firstNumber(const Environment& environment,
                               std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto text = findVariable(environment, name);
    if (!text)
      continue;
    int number = 0;
    const char* end = text->data() + text->size();
    const auto parsed = std::from_chars(text->data(), end, number);
    if (parsed.ec == std::errc() && parsed.ptr == end && number >= 0)
      return number;
  }
  return std::nullopt;
}

std::string jobName(const Environment& environment) {
  // torchrun without --rdzv-id names every job "none".
  if (const auto run = findVariable(environment, "TORCHELASTIC_RUN_ID");
      run && !run->empty() && *run != "none")
    return *run;
  if (const auto job = findVariable(environment, "SLURM_JOB_ID")) {
    const auto step = findVariable(environment, "SLURM_STEP_ID");
    return step ? fmt::format("slurm:{}.{}", *job, *step) : fmt::format("slurm:{}", *job);
  }
  for (const char* name : {"PMIX_NAMESPACE", "OMPI_MCA_orte_jobid", "OMPI_MCA_ess_base_jobid"}) {
    if (const auto space = findVariable(environment, name))
      return fmt::format("pmix:{}", *space);
  }
  const auto address = findVariable(environment, "MASTER_ADDR");
  const auto port = findVariable(environment, "MASTER_PORT");
  const auto size = findVariable(environment, "WORLD_SIZE");
  return address && port && size ? fmt::format("{}:{}:{}", *address, *port, *size) : "";
}

}  // namespace

std::optional<std::string> findVariable(const Environment& environment, const std::string& name) {
  const std::string prefix = name + "=";
  for (const std::string& entry : environment) {
    if (entry.starts_with(prefix))
      return entry.substr(prefix.size());
  }
  return std::nullopt;
}

JobIdentity jobIdentity(const Environment& environment) {
  JobIdentity identity;
  identity.job = jobName(environment);
  identity.rank = firstNumber(environment,
                              {"RANK",
                               "OMPI_COMM_WORLD_RANK",
                               "PMIX_RANK",
                               "PMI_RANK",
                               "MV2_COMM_WORLD_RANK",
                               "SLURM_PROCID"});
  identity.localRank = firstNumber(environment,
                                   {"LOCAL_RANK",
                                    "OMPI_COMM_WORLD_LOCAL_RANK",
                                    "MPI_LOCALRANKID",
                                    "MV2_COMM_WORLD_LOCAL_RANK",
                                    "SLURM_LOCALID"});
  identity.worldSize = firstNumber(
      environment,
      {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_NTASKS"});
  identity.localWorldSize = firstNumber(environment,
                                        {"LOCAL_WORLD_SIZE",
                                         "OMPI_COMM_WORLD_LOCAL_SIZE",
                                         "MPI_LOCALNRANKS",
                                         "MV2_COMM_WORLD_LOCAL_SIZE",
                                         "SLURM_NTASKS_PER_NODE"});
  return identity;
}

}  // namespace sonde::recorder
