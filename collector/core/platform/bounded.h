// Loops on words that several threads change. Each try of a compare-and-swap that fails is another
// thread's success, but nothing says how often that happens: the host is not to wait for it. So
// they end after so many tries, and what they were for is given up.
#pragma once

#include <atomic>

namespace sonde::core {

inline constexpr int kMostTries = 10'000;  // some 100 µs; threads by the hundred take a few

// `word` becomes change(what it is), unless that is the same. `seen`: what it was, or at the last
// try is. False: it was the same, or there was no end of changes by others.
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
