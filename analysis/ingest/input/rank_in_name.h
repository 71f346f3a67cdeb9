// Finds a file's rank in its name. Free functions; any thread.
#pragma once

#include "analysis/model/place.h"

#include <filesystem>
#include <map>
#include <string_view>
#include <vector>

namespace sonde::ingest {

// The N of "rank0", "rank-1.json.gz", "dp0_pp0_tp1_rank3.1764.pt.trace.json": a number after the
// word "rank". Unset if it is the rank in a part of the job ("local_rank0", "tp_rank1"), or if
// there are several.
model::OptionalInt rankInName(std::string_view fileName);

// The ranks of the files of one job by their names. Leaves out ranks that two files have.
std::map<std::filesystem::path, std::int64_t> ranksInNames(
    const std::vector<std::filesystem::path>& files);

}  // namespace sonde::ingest
