// Options that take a list of words, such as `--by rank,thread`. Each word sets one flag.
// Plain functions; any thread.
#pragma once

#include "base/result.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace sonde::cli {

template <typename Flags>
struct NamedFlag {
  const char* word;
  bool Flags::*flag;
};

// Sets the flag of each word. An unknown word is InvalidArgument; the message begins with `unknown`
// and lists all known words.
template <typename Flags, std::size_t count>
Result<Flags> flagsOf(const std::vector<std::string>& words,
                      const std::array<NamedFlag<Flags>, count>& known,
                      const char* unknown) {
  Flags flags;
  for (const std::string& word : words) {
    std::vector<const char*> all;
    bool isKnown = false;
    for (const NamedFlag<Flags>& each : known) {
      all.push_back(each.word);
      if (word == each.word)
        isKnown = flags.*each.flag = true;
    }
    if (!isKnown)
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("{} '{}': use {}", unknown, word, fmt::join(all, ", "))};
  }
  return flags;
}

}  // namespace sonde::cli
