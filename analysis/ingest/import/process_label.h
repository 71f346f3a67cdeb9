// The texts by which events of a file say which process they are of, or that they are a device's.
// Free functions; any thread.
#pragma once

#include "analysis/ingest/import/event_fields.h"
#include "analysis/model/place.h"

#include <string>
#include <string_view>
#include <vector>

namespace sonde::ingest {

// Whether a process is called so: a number above 0, or a text. 0, -1 and "Spans" are rows of the
// profiler's own.
bool namesProcess(const Label& pid) noexcept;

// What processes and rows of devices of one rank have in common, where ranks were merged into one
// file: "[TP00]" of "[TP00] 4000", "[TP00] 0" and "[TP00] Spans"; a text without a number behind
// what tells ranks apart is its own. Empty: of numbers, of texts of the profiler's own, and of "CPU
// functions" and the like of PyTorch without Kineto.
std::string_view groupOfLabel(const Label& pid) noexcept;

// Which ranks groups are: by the word "rank" in each, or by the number of the one dimension that
// all name ("[TP00]", "[TP01]"). Empty: they do not say, or two say the same.
std::vector<std::int64_t> ranksOfGroups(const std::vector<std::string>& groups);

}  // namespace sonde::ingest
