#include "cli/diff/diff_runs.h"

#include "analysis/engine/merge/trace_facts.h"
#include "analysis/store/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;
using engine::merge::TraceFacts;

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
  return meet && engine::merge::checkOneJob(run);
}

Result<TraceFacts> factsOf(const std::string& path) {
  SONDE_TRY_ASSIGN(const store::Database trace, store::openTrace(path));
  SONDE_TRY_ASSIGN(TraceFacts facts, engine::merge::readFacts(trace));
  facts.path = path;
  return facts;
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
  SONDE_TRY(engine::merge::checkDistinct(all));
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

}  // namespace sonde::cli
