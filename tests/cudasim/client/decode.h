#pragma once
// CUPTI's records as JSON with the truth file's words, by the layouts of the CUPTI version that
// created them. For tests.

#include <cupti.h>

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace cudasim_client {

// `cuptiVersion`: from cuptiGetVersion. An unknown kind becomes {"kind": "unknown"}.
nlohmann::json decode(const CUpti_Activity* record, uint32_t cuptiVersion);

// The record's size in NVIDIA's headers; 0 for a kind with the same layout in both versions.
size_t sizeOf(const CUpti_Activity* record, uint32_t cuptiVersion);

// The truth file's lines.
std::vector<nlohmann::json> readLines(const std::string& path);

// The records that CUPTI must deliver according to the truth file: traced, and neither lost nor
// dropped nor refused. Each line as `decode` returns its record.
std::vector<nlohmann::json> owed(const std::vector<nlohmann::json>& truth);

// Sorted, for comparison.
std::vector<std::string> sorted(const std::vector<nlohmann::json>& records);

}  // namespace cudasim_client
