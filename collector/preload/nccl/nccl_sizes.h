// What a call moves, as nccl-tests counts it. Stateless.
#pragma once

#include "collector/preload/nccl/nccl_events.h"

#include <cstdint>

namespace sonde::preload::nccl {

struct Sizes {
  std::uint64_t bytes;
  std::uint64_t send;
  std::uint64_t receive;
};

// Collective::kUnknownBytes for what depends on a number of ranks, or a type, that is not known.
Sizes sizesOf(const Communicator& communicator, const CallFacts& facts) noexcept;

}  // namespace sonde::preload::nccl
