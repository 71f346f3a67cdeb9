#include "cli/breakdown/breakdown_names.h"

#include "cli/text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace sonde::cli {

namespace breakdown = engine::breakdown;

BreakdownProcesses processesOf(const breakdown::Breakdown& result) {
  BreakdownProcesses processes;
  for (const breakdown::ProcessTotal& process : result.processes)
    processes.emplace(process.id, &process);
  return processes;
}

namespace {

using Processes = std::vector<const breakdown::ProcessTotal*>;

constexpr int kCommandWidth = 40;

std::string commandOf(const breakdown::ProcessTotal& process) {
  return cutTo(process.command, kCommandWidth);
}

template <typename Get>
Processes alike(const Processes& among, const breakdown::ProcessTotal& process, Get get) {
  Processes found;
  std::copy_if(among.begin(), among.end(), std::back_inserter(found), [&](const auto* each) {
    return get(*each) == get(process);
  });
  return found;
}

// Text that distinguishes a process from those in `others` (itself included) with its rank and pid.
std::string besidesPid(const breakdown::ProcessTotal& process, const Processes& others) {
  std::string text;
  const Processes ofHost = alike(others, process, [](const auto& each) { return each.host; });
  if (ofHost.size() < others.size())
    text += fmt::format(" on {}", process.host);
  const Processes ofCommand = alike(ofHost, process, commandOf);
  if (ofCommand.size() < ofHost.size())
    text += fmt::format(" ({})", commandOf(process));
  return ofCommand.size() > 1 ? text + fmt::format(" #{}", process.id) : text;
}

}  // namespace

ProcessNames namesOf(const breakdown::Breakdown& result) {
  using Rank = std::optional<std::int64_t>;
  std::map<Rank, std::size_t> ofRank;                        // number of processes
  std::map<std::pair<Rank, std::int64_t>, Processes> ofPid;  // by rank and pid
  for (const breakdown::ProcessTotal& each : result.processes) {
    ++ofRank[each.rank];
    ofPid[{each.rank, each.pid}].push_back(&each);
  }
  ProcessNames names;
  for (const breakdown::ProcessTotal& each : result.processes) {
    std::string& name = names[each.id];
    if (each.rank)
      name = fmt::format("rank {}", *each.rank);
    if (!each.rank || ofRank[each.rank] > 1)
      name += fmt::format("{}process {}{}",
                          each.rank ? ", " : "",
                          each.pid,
                          besidesPid(each, ofPid[{each.rank, each.pid}]));
  }
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  return names.empty() ? "-" : fmt::format("{}", fmt::join(names, " + "));
}

}  // namespace sonde::cli
