// Joins the traces of a job's ranks into one trace. Free functions; any thread, one merge a target
// file.
#pragma once

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
};

struct MergeSummary {
  std::map<std::string, std::int64_t> events;   // rows by table, of tables that have some
  std::map<std::string, std::int64_t> dropped;  // by reason, what the recordings lost
  std::vector<std::string> warnings;            // each one line: what is odd about the inputs
};

// Writes OUTPUT.part and renames it when it is finished; the inputs are only read. Ids are those of
// the first input for its rows and follow on for the others'. Hosts are one when their boot ids
// are; the times of all recordings of a boot are made to count from the same epoch, exactly.
// InvalidArgument: no input, the output exists, or is an input. Unsupported: the inputs contradict
// each other. Others as openTrace.
Result<MergeSummary> merge(const MergeOptions& options);

}  // namespace sonde::engine::merge
