// The 64-bit hash FNV-1a (Fowler, Noll, Vo): the same on every machine and in every build.
#pragma once

#include <cstdint>
#include <string_view>

namespace sonde::recorder {

constexpr std::uint64_t fnv1a(std::string_view bytes) noexcept {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x0000'0100'0000'01b3;
  }
  return hash;
}

}  // namespace sonde::recorder
