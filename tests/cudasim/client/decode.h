#pragma once
// CUPTI's records as JSON with the truth file's words, by the layouts of the CUPTI that made them.
// For tests.

#include <cupti.h>

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace cudasim_client {

// `cuptiVersion` is cuptiGetVersion's. A kind that is not known becomes {"kind": "unknown"}.
nlohmann::json decode(const CUpti_Activity* record, uint32_t cuptiVersion);

// The record's size by NVIDIA's headers; 0 for a kind that both versions lay out alike.
size_t sizeOf(const CUpti_Activity* record, uint32_t cuptiVersion);

// The truth file's lines.
std::vector<nlohmann::json> readLines(const std::string& path);

// What CUPTI owes, by the truth: traced, and neither lost nor dropped nor refused. Each line as
// `decode` has its record.
std::vector<nlohmann::json> owed(const std::vector<nlohmann::json>& truth);

// Sorted, for comparison.
std::vector<std::string> sorted(const std::vector<nlohmann::json>& records);

}  // namespace cudasim_client
