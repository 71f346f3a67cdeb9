// Interprets the texts with which events name their process, or a device's row. Free functions; any
// thread.
#pragma once

#include "analysis/ingest/import/event_fields.h"
#include "analysis/model/place.h"

#include <string>
#include <string_view>
#include <vector>

namespace sonde::ingest {

// Whether the label names a process: a number above 0, or a text. 0, -1 and "Spans" are the
// profiler's own rows.
bool namesProcess(const Label& pid) noexcept;

// The common part of the labels of one rank in a file of merged ranks: "[TP00]" for "[TP00] 4000",
// "[TP00] 0" and "[TP00] Spans". A text without a number after the rank's part is a group of its
// own. Empty for numbers, the profiler's own texts, and labels such as "CPU functions" of PyTorch
// without Kineto.
std::string_view groupOfLabel(const Label& pid) noexcept;

// The ranks of groups, from the word "rank" in each, or from the one dimension that all name
// ("[TP00]", "[TP01]"). Empty: they have none, or two are equal.
std::vector<std::int64_t> ranksOfGroups(const std::vector<std::string>& groups);

}  // namespace sonde::ingest
