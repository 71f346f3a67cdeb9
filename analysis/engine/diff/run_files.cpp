#include "analysis/engine/diff/run_files.h"

#include "analysis/engine/merge/trace_facts.h"
#include "analysis/store/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

namespace sonde::engine::diff {
namespace {

namespace fs = std::filesystem;
using merge::TraceFacts;

struct Content {
  std::vector<std::string> traces;
  std::vector<std::string> folders;
};

Result<Content> contentOf(const std::string& folder) {
  Content content;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    std::error_code ignored;
    if (entry->path().extension() == ".sonde")
      content.traces.push_back(entry->path().string());
    else if (entry->is_directory(ignored))
      content.folders.push_back(entry->path().string());
  }
  if (failure)
    return Error{
        ErrorCode::Io,
        fmt::format(
            "cannot read the folder '{}' ({}): name another folder", folder, failure.message())};
  std::sort(content.traces.begin(), content.traces.end());
  std::sort(content.folders.begin(), content.folders.end());
  return content;
}

Result<std::vector<std::string>> tracesOf(const std::string& word) {
  std::error_code ignored;
  if (!fs::is_directory(word, ignored))
    return std::vector<std::string>{word};
  SONDE_TRY_ASSIGN(const Content content, contentOf(word));
  std::vector<std::string> traces = content.traces;
  for (std::size_t i = 0; content.traces.empty() && i < content.folders.size(); ++i) {
    SONDE_TRY_ASSIGN(const Content inner, contentOf(content.folders[i]));
    traces.insert(traces.end(), inner.traces.begin(), inner.traces.end());
  }
  if (traces.empty())
    return Error{
        ErrorCode::NotFound,
        fmt::format(
            "the folder '{}' has no traces: name one that has ….sonde files, in subfolders too",
            word)};
  return traces;
}

Result<std::vector<std::string>> tracesOf(const std::vector<std::string>& words) {
  std::vector<std::string> all;
  for (const std::string& word : words) {
    SONDE_TRY_ASSIGN(const std::vector<std::string> traces, tracesOf(word));
    all.insert(all.end(), traces.begin(), traces.end());
  }
  return all;
}

// Imports have different time origins, so it is unknown whether they were recorded together.
bool atOnce(const TraceFacts& one, const TraceFacts& other) {
  if (one.isImport || other.isImport)
    return true;
  return one.beginNs && one.endNs && other.beginNs && other.endNs && *one.beginNs <= *other.endNs &&
         *other.beginNs <= *one.endNs;
}

bool isOneJob(std::vector<TraceFacts> run, const TraceFacts& trace) {
  const bool meet = std::all_of(run.begin(), run.end(), [&](const TraceFacts& each) {
    return !each.ranks.empty() && !trace.ranks.empty() && atOnce(each, trace);
  });
  run.push_back(trace);
  return meet && merge::checkOneJob(run);
}

Result<TraceFacts> factsOf(const std::string& path) {
  SONDE_TRY_ASSIGN(const store::Database trace, store::openTrace(path));
  SONDE_TRY_ASSIGN(TraceFacts facts, merge::readFacts(trace));
  facts.path = path;
  return facts;
}

Result<std::vector<IterationTimes>> ranksOf(const RunFiles& files, const ReadTrace& readTrace) {
  std::vector<IterationTimes> ranks;
  for (const std::string& path : files) {
    auto found = readTrace(path);
    if (!found && found.error().message.find(path) != std::string::npos)
      return found.error();
    if (!found)
      return Error{found.error().code, fmt::format("'{}': {}", path, found.error().message)};
    for (IterationTimes& rank : *found)
      ranks.push_back(std::move(rank));
  }
  if (ranks.empty())
    return Error{ErrorCode::NotFound,
                 fmt::format("'{}' has no iterations to compare: annotate them in the program "
                             "(sonde.iteration, SONDE_ITERATION), or record with the probe torch",
                             files.front())};
  return ranks;
}

// Whether the run has any of the iterations that were chosen.
Result<void> checkChosen(const RunTimes& run,
                         const std::vector<IterationTimes>& ranks,
                         const RunFiles& files) {
  if (run.unwanted == 0 || run.iterations + run.warmUp > 0)
    return {};
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = 0;
  for (const IterationTimes& rank : ranks)
    for (const IterationName& each : rank.iterations) {
      first = std::min(first, each.number);
      last = std::max(last, each.number);
    }
  return Error{ErrorCode::NotFound,
               fmt::format("'{}' has {} {}, with numbers from {} to {}, but none of those to "
                           "compare: choose some of them",
                           files.front(),
                           run.unwanted,
                           run.unwanted == 1 ? "iteration" : "iterations",
                           first,
                           last)};
}

}  // namespace

Result<std::vector<RunFiles>> runsOf(const std::vector<std::string>& words) {
  SONDE_TRY_ASSIGN(const std::vector<std::string> traces, tracesOf(words));
  std::vector<TraceFacts> all;
  for (const std::string& path : traces) {
    SONDE_TRY_ASSIGN(TraceFacts facts, factsOf(path));
    all.push_back(std::move(facts));
  }
  // A run that is given twice would look like two equal ones.
  SONDE_TRY(merge::checkDistinct(all));
  std::vector<std::vector<TraceFacts>> runs;
  for (TraceFacts& facts : all) {
    const auto run = std::find_if(
        runs.begin(), runs.end(), [&](const auto& each) { return isOneJob(each, facts); });
    if (run != runs.end())
      run->push_back(std::move(facts));
    else
      runs.push_back({std::move(facts)});
  }
  std::vector<RunFiles> files;
  for (const auto& run : runs) {
    RunFiles& own = files.emplace_back();
    own.reserve(run.size());
    for (const TraceFacts& trace : run)
      own.push_back(trace.path.string());
  }
  return files;
}

Result<std::vector<RunTimes>> readRuns(const std::vector<RunFiles>& runs,
                                       const ReadTrace& readTrace,
                                       bool byRank,
                                       const IterationChoice& choice,
                                       const Progress& progress) {
  std::vector<RunTimes> times;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    progress(runs[i].front(), static_cast<double>(i) / static_cast<double>(runs.size()));
    SONDE_TRY_ASSIGN(const std::vector<IterationTimes> ranks, ranksOf(runs[i], readTrace));
    times.push_back(runOf(ranks, byRank, choice));
    SONDE_TRY(checkChosen(times.back(), ranks, runs[i]));
  }
  return times;
}

}  // namespace sonde::engine::diff
