// NCCL's hash of a communicator, as in its log and its profiler plugins. From src/include/bitops.h
// and src/init.cc of NCCL 2.26 to 2.30. For an identifier it is the hash of its bytes; for a split,
// the hash of parent, split number and colour.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sonde::preload::nccl {

class CommunicatorHash {
 public:
  // Requires a little-endian machine; Sonde runs on no other.
  void add(const void* bytes, std::size_t size) noexcept {
    const char* from = static_cast<const char*>(bytes);
    low_ ^= size;
    while (size != 0) {
      low_ += high_;
      high_ ^= low_;
      low_ = (low_ ^ low_ >> 31) * 0x9de6'2bbc'8cef'3ce3;
      high_ = (high_ ^ high_ >> 32) * 0x485c'd631'1b59'9e79;
      const std::size_t piece = size < sizeof(std::uint64_t) ? size : sizeof(std::uint64_t);
      std::uint64_t word = 0;
      std::memcpy(&word, from, piece);
      low_ += word;
      from += piece;
      size -= piece;
    }
  }

  std::uint64_t value() const noexcept {
    std::uint64_t mixed = (low_ ^ low_ >> 31) * 0xbac3'bd56'2846'de6b;
    mixed += high_;
    return (mixed ^ mixed >> 32) * 0x995a'187a'14e7'b445;
  }

 private:
  std::uint64_t low_ = 1;
  std::uint64_t high_ = 1;
};

inline std::uint64_t hashOfIdentifier(const void* bytes, std::size_t size) noexcept {
  CommunicatorHash hash;
  hash.add(bytes, size);
  return hash.value();
}

inline std::uint64_t hashOfChild(std::uint64_t parent,
                                 std::int32_t number,
                                 std::int32_t color) noexcept {
  CommunicatorHash hash;
  hash.add(&parent, sizeof parent);
  hash.add(&number, sizeof number);
  hash.add(&color, sizeof color);
  return hash.value();
}

}  // namespace sonde::preload::nccl
