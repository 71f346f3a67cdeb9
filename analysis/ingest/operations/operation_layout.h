// The layout of a parallel job, as given to `sonde import --layout`. Plain values; any thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string_view>

namespace sonde::ingest {

struct OperationLayout {
  std::int64_t dataParallel = 1;
  std::int64_t pipeline = 1;  // stages
  std::int64_t tensorParallel = 1;

  std::int64_t ranks() const noexcept { return dataParallel * pipeline * tensorParallel; }
};

// Reads "dp=4,pp=4,tp=2", in any order; a size that is not named is 1. InvalidArgument: another
// text.
Result<OperationLayout> parseLayout(std::string_view text);

}  // namespace sonde::ingest
