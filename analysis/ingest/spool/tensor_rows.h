// Makes a row of a tensor's record: its numbers, and quantiles and a histogram from its buckets.
// Plain functions; any thread.
#pragma once

#include "analysis/model/event.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sonde::ingest {

// Reads a complete TensorStatistics record. Sets all fields except process, iteration, texts and
// time. False: the record is invalid.
bool readTensor(std::span<const std::byte> record, model::Tensor& row);

}  // namespace sonde::ingest
