#pragma once
// CUPTI's records in the layouts of this variant, 12.6's or 13.0's.

#include "tests/cudasim/core/activity.h"

#include <cupti.h>

#include <cstddef>

namespace cudasim {

constexpr size_t kLargestRecord = 512;

// 0 for a kind without records here.
size_t recordSize(uint32_t kind);

// Writes the record of `activity` and returns its size; 0 if it has none. `to` has kLargestRecord
// zeroed bytes.
size_t encode(const Activity& activity, uint8_t* to);

}  // namespace cudasim
