// Merges k sequences: holds the smallest of their next values, and replaces it by its sequence's
// next value in log2(k) steps. One thread. Within engine/breakdown.
//
// Source: Knuth, The Art of Computer Programming, volume 3, section 5.4.1. Inner nodes hold the
// loser of each comparison, so a replacement compares only on the path from its leaf to the root.
// No branch depends on the values: on merged times half of the predictions would be wrong.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace sonde::engine::breakdown {

class LoserTree {
 public:
  // The value of a sequence that has ended.
  static constexpr std::int64_t kEnded = std::numeric_limits<std::int64_t>::max();

  // `first`: the first value of each sequence.
  explicit LoserTree(const std::vector<std::int64_t>& first)
      : leaves_(std::bit_ceil(first.size() + (first.empty() ? 1 : 0))), losers_(leaves_) {
    std::vector<Entry> winners(2 * leaves_, Entry{kEnded, 0});
    for (std::size_t at = 0; at < first.size(); ++at)
      winners[leaves_ + at] = {first[at], at};
    for (std::size_t node = leaves_ - 1; node > 0; --node) {
      Entry a = winners[2 * node];
      Entry b = winners[2 * node + 1];
      if (b.value < a.value)
        std::swap(a, b);
      winners[node] = a;
      losers_[node] = b;
    }
    winner_ = winners[1];
  }

  std::int64_t value() const noexcept { return winner_.value; }  // kEnded: all have ended
  std::size_t sequence() const noexcept { return winner_.sequence; }

  // The winner's sequence continues with `value`.
  void replace(std::int64_t value) noexcept {
    Entry entry{value, winner_.sequence};
    for (std::size_t node = (leaves_ + entry.sequence) / 2; node > 0; node /= 2) {
      Entry& loser = losers_[node];
      const auto swapped = static_cast<std::uint64_t>(-static_cast<int>(loser.value < entry.value));
      const auto values = static_cast<std::int64_t>(
          (static_cast<std::uint64_t>(loser.value) ^ static_cast<std::uint64_t>(entry.value)) &
          swapped);
      const std::size_t sequences = (loser.sequence ^ entry.sequence) & swapped;
      loser.value ^= values;
      entry.value ^= values;
      loser.sequence ^= sequences;
      entry.sequence ^= sequences;
    }
    winner_ = entry;
  }

 private:
  struct Entry {
    std::int64_t value = kEnded;
    std::size_t sequence = 0;
  };

  std::size_t leaves_;
  std::vector<Entry> losers_;
  Entry winner_;
};

}  // namespace sonde::engine::breakdown
