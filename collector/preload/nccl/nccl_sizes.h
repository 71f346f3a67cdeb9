// The bytes that a call moves, as nccl-tests counts them. Stateless.
#pragma once

#include "collector/preload/nccl/nccl_events.h"

#include <cstdint>

namespace sonde::preload::nccl {

struct Sizes {
  std::uint64_t bytes;
  std::uint64_t send;
  std::uint64_t receive;
};

// Collective::kUnknownBytes if a size depends on an unknown number of ranks or an unknown type.
Sizes sizesOf(const Communicator& communicator, const CallFacts& facts) noexcept;

}  // namespace sonde::preload::nccl
