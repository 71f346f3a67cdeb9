#include "cli/report/report_threads.h"

#include "cli/text/json_value.h"
#include "cli/text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

namespace metrics = engine::metrics;
using metrics::ThreadTime;

std::set<std::int64_t> iterationThreads(const JobReport& report) {
  std::set<std::int64_t> threads;
  for (const RankReport& rank : report.ranks)
    for (const metrics::IterationTime& iteration : rank.process.iterations)
      threads.insert(iteration.threadId);
  return threads;
}

bool isFirstOfARank(const JobReport& report, const ThreadTime& thread) {
  return thread.tid == thread.pid &&
         std::any_of(report.ranks.begin(), report.ranks.end(), [&](const RankReport& rank) {
           return rank.process.processId == thread.processId;
         });
}

std::string labelOf(const ThreadTime& thread) {
  const std::string process =
      thread.rank ? fmt::format("rank {}", *thread.rank) : fmt::format("process {}", thread.pid);
  const std::string name = thread.name.empty() ? "" : " " + thread.name;
  return cutTo(
      thread.tid == thread.pid ? process + name : fmt::format("{}{} {}", process, name, thread.tid),
      24);
}

Cell shareOf(std::int64_t ns, const ThreadTime& thread) {
  return static_cast<double>(ns) / static_cast<double>(std::max<std::int64_t>(thread.wallNs, 1));
}

}  // namespace

Lines threadLines(const JobReport& report, bool full, std::size_t limit) {
  Table table{{{"thread", "thread"},
               {"wall", "seen for", ColumnKind::DurationNs},
               {"running", "running", ColumnKind::Fraction},
               {"runnable", "runnable", ColumnKind::Fraction}},
              {}};
  for (const char* cause : metrics::kCauseNames)
    table.columns.push_back({cause, cause, ColumnKind::Fraction});
  table.columns.push_back({"unknown", "unknown", ColumnKind::Fraction});
  const std::set<std::int64_t> chosen = iterationThreads(report);
  for (const ThreadTime& thread : report.threads) {
    const bool isChosen =
        chosen.empty() ? isFirstOfARank(report, thread) : chosen.contains(thread.threadId);
    if (!full && !isChosen)
      continue;
    std::vector<Cell> cells = {labelOf(thread),
                               Cell(thread.wallNs),
                               shareOf(thread.runningNs, thread),
                               shareOf(thread.runnableNs, thread)};
    for (const std::int64_t ns : thread.blockedNs)
      cells.push_back(shareOf(ns, thread));
    cells.push_back(shareOf(thread.unknownNs, thread));
    table.rows.push_back(std::move(cells));
  }
  if (table.rows.empty())
    return {};
  Lines lines = {""};
  appendLines(lines,
              full ? "Threads: running, runnable without a processor, and blocked on what"
                   : "Threads of the iterations: running, runnable, and blocked on what");
  appendTable(lines, std::move(table), limit);
  return lines;
}

nlohmann::json threadsJson(const JobReport& report) {
  nlohmann::json rows = nlohmann::json::array();
  for (const ThreadTime& thread : report.threads) {
    nlohmann::json blocked = nlohmann::json::object();
    for (std::size_t cause = 0; cause < metrics::kCauses; ++cause)
      blocked[fmt::format("{}_ns", metrics::kCauseNames[cause])] = thread.blockedNs[cause];
    rows.push_back({{"rank", orNull(thread.rank)},
                    {"pid", thread.pid},
                    {"tid", thread.tid},
                    {"name", thread.name},
                    {"wall_ns", thread.wallNs},
                    {"running_ns", thread.runningNs},
                    {"runnable_ns", thread.runnableNs},
                    {"blocked", std::move(blocked)},
                    {"unknown_ns", thread.unknownNs}});
  }
  return rows;
}

}  // namespace sonde::cli
