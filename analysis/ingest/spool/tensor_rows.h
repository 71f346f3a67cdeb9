// Makes a row of what a process has told of a tensor: the numbers, and from its buckets quantiles
// and a histogram. Plain functions; any thread.
#pragma once

#include "analysis/model/event.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sonde::ingest {

// A TensorStatistics record, whole. Fills in what needs no other record: all but process,
// iteration, texts and time. False: it makes no sense.
bool readTensor(std::span<const std::byte> record, model::Tensor& row);

}  // namespace sonde::ingest
