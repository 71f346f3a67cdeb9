// Joins the traces of a job's ranks into one trace. Free functions; any thread, one merge per
// target file.
#pragma once

#include "analysis/engine/align/align.h"
#include "analysis/store/database.h"
#include "base/progress.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sonde::engine::merge {

struct MergeOptions {
  std::vector<std::filesystem::path> inputs;  // finished or not; at least one
  std::filesystem::path output;
  bool overwrite = false;
  Progress progress = {};
  store::StopCheck isToStop = {};  // ends with Io and leaves no output, once it returns true
};

struct MergeSummary {
  std::map<std::string, std::int64_t> events;   // rows by table, without empty tables
  std::map<std::string, std::int64_t> dropped;  // by reason, records that the recordings lost
  std::vector<std::string> warnings;            // each one line: oddities of the inputs
  align::Alignment alignment;                   // of the hosts' clocks
};

// Writes OUTPUT.part and renames it when finished; only reads the inputs. The first input keeps its
// ids, the others' follow. Hosts with the same boot id become one. Times of all recordings of a
// boot are shifted exactly to one epoch. Aligns the clocks of several hosts and stores the result
// in `clock_map`. InvalidArgument: no input; the output exists or is an
// input. Unsupported: the inputs contradict each other. Other errors as openTrace.
Result<MergeSummary> merge(const MergeOptions& options);

}  // namespace sonde::engine::merge
