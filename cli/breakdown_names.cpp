#include "cli/breakdown_names.h"

#include "cli/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

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

// What tells a process apart from `others`, itself among them, that have its rank and pid.
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

std::string nameOf(const breakdown::ProcessTotal& process, const breakdown::Breakdown& result) {
  Processes all;
  for (const breakdown::ProcessTotal& each : result.processes)
    all.push_back(&each);
  const Processes ofRank = alike(all, process, [](const auto& each) { return each.rank; });
  if (process.rank && ofRank.size() == 1)
    return fmt::format("rank {}", *process.rank);
  const std::string rank = process.rank ? fmt::format("rank {}, ", *process.rank) : "";
  return fmt::format(
      "{}process {}{}",
      rank,
      process.pid,
      besidesPid(process, alike(ofRank, process, [](const auto& each) { return each.pid; })));
}

std::string joined(const std::vector<std::string>& names) {
  return names.empty() ? "-" : fmt::format("{}", fmt::join(names, " + "));
}

}  // namespace sonde::cli
