#include "cli/breakdown_names.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::cli {

namespace breakdown = engine::breakdown;

BreakdownProcesses processesOf(const breakdown::Breakdown& result) {
  BreakdownProcesses processes;
  for (const breakdown::ProcessTotal& process : result.processes)
    processes.emplace(process.id, &process);
  return processes;
}

std::string nameOf(const breakdown::ProcessTotal& process, const breakdown::Breakdown& result) {
  if (!process.rank)
    return fmt::format("process {}", process.pid);
  const auto ofRank = std::count_if(result.processes.begin(),
                                    result.processes.end(),
                                    [&](const auto& each) { return each.rank == process.rank; });
  return ofRank == 1 ? fmt::format("rank {}", *process.rank)
                     : fmt::format("rank {}, process {}", *process.rank, process.pid);
}

std::string joined(const std::vector<std::string>& names) {
  return names.empty() ? "-" : fmt::format("{}", fmt::join(names, " + "));
}

}  // namespace sonde::cli
