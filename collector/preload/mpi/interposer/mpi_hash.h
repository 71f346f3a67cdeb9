// Hashes for the tables of this library.
#pragma once

#include <cstdint>

namespace sonde::preload::mpi {

inline std::uint32_t spread(std::uint64_t value) noexcept {
  value ^= value >> 33;
  value *= 0xff51'afd7'ed55'8ccdU;
  value ^= value >> 33;
  return static_cast<std::uint32_t>(value * 0x9e37'79b9'7f4a'7c15U >> 32);
}

}  // namespace sonde::preload::mpi
