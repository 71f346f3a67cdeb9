// A hash table from pairs of small numbers to a number, for the inner loop of the sweep. Open
// addressing, no removal. One thread. Within engine/breakdown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::engine::breakdown {

class PairTable {
 public:
  struct Entry {
    std::uint32_t first;
    std::uint32_t second;
    std::int64_t value;
  };
  static constexpr std::int64_t kNone = -1;

  // The value of the pair; a new pair has kNone. The reference is valid until the next call.
  // Requires: not both are 2³² − 1.
  std::int64_t& operator()(std::uint32_t first, std::uint32_t second) {
    std::size_t at = placeOf(first, second);
    while (!isFree(entries_[at])) {
      if (entries_[at].first == first && entries_[at].second == second)
        return entries_[at].value;
      at = (at + 1) & (entries_.size() - 1);
    }
    if (2 * (used_ + 1) > entries_.size()) {
      grow();
      return (*this)(first, second);
    }
    ++used_;
    entries_[at] = {first, second, kNone};
    return entries_[at].value;
  }

  template <typename Visit>
  void forEach(Visit visit) const {
    for (const Entry& entry : entries_)
      if (!isFree(entry))
        visit(entry);
  }

 private:
  static constexpr Entry kFree{~std::uint32_t{0}, ~std::uint32_t{0}, kNone};

  static bool isFree(const Entry& entry) noexcept {
    return (entry.first & entry.second) == ~std::uint32_t{0};
  }
  std::size_t placeOf(std::uint32_t first, std::uint32_t second) const noexcept {
    // The high half of the product with an odd constant near 2^64 / golden ratio.
    const std::uint64_t key = (std::uint64_t{first} << 32U) | second;
    return ((key * 0x9E3779B97F4A7C15U) >> 32U) & (entries_.size() - 1);
  }
  void grow() {
    std::vector<Entry> old(2 * entries_.size(), kFree);
    old.swap(entries_);
    used_ = 0;
    for (const Entry& entry : old)
      if (!isFree(entry))
        (*this)(entry.first, entry.second) = entry.value;
  }

  std::vector<Entry> entries_ = std::vector<Entry>(64, kFree);
  std::size_t used_ = 0;
};

}  // namespace sonde::engine::breakdown
