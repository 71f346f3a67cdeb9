// Which rank a file is of, by its name. Free functions; any thread.
#pragma once

#include "analysis/model/place.h"

#include <filesystem>
#include <map>
#include <string_view>
#include <vector>

namespace sonde::ingest {

// The N of "rank0", "rank-1.json.gz", "dp0_pp0_tp1_rank3.1764.pt.trace.json": a number behind the
// word "rank". One of a part of the job ("local_rank0", "tp_rank1") is none. None, too: there are
// several.
model::OptionalInt rankInName(std::string_view fileName);

// The ranks of the files of one job by their names. A rank that two files have is no rank.
std::map<std::filesystem::path, std::int64_t> ranksInNames(
    const std::vector<std::filesystem::path>& files);

}  // namespace sonde::ingest
