// Bounded loops on words that several threads change. Each failed compare-and-swap is another
// thread's success, but nothing limits the number of failures, and the host must not wait. So the
// loops stop after kMostTries tries and give up their work.
#pragma once

#include <atomic>

namespace sonde::core {

inline constexpr int kMostTries = 10'000;  // some 100 µs; threads by the hundred take a few

// Sets `word` to change(its value), unless that is the same. `seen`: the value before, or at the
// last try. False: the value was the same, or other threads kept changing it.
template <typename Word, typename Change>
bool exchangeWith(std::atomic<Word>& word, Word& seen, Change change) noexcept {
  seen = word.load(std::memory_order_acquire);
  for (int tries = 0; tries < kMostTries; ++tries) {
    const Word next = change(seen);
    if (next == seen)
      return false;
    if (word.compare_exchange_weak(seen, next, std::memory_order_acq_rel))
      return true;
  }
  return false;
}

}  // namespace sonde::core
