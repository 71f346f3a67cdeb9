// Says which parts of a job a question is about: `name:*gemm*,rank:0`. Plain values; any thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::engine::whatif {

enum class Key : std::uint8_t {
  Kind,        // host, kernel, copy, collective, message, or the kind of a slice
  Name,        // of a slice, kernel or copy
  Operator,    // all inside an operator of this name, with the device work that it launched
  Module,      // the same for a module
  Operation,   // the same for an annotation: operations, phases, forward, data_load, …
  Rank,        // its number
  Stream,      // its number, or its name
  Collective,  // its word, such as allreduce, or the name of its call
};
inline constexpr std::size_t kKeys = 8;

const char* nameOf(Key key) noexcept;

// A pattern with `*`, `?` and `[…]`. The whole text must match, with case.
struct Condition {
  Key key = Key::Name;
  std::string glob;
};

// Selects work that fulfils all conditions.
struct Selector {
  std::string text;  // as given
  std::vector<Condition> conditions;

  // The glob of a key; nullopt: any.
  std::optional<std::string> globOf(Key key) const;
};

// `key:glob[,key:glob…]`. A value with a comma or a quote is in double quotes, in which a backslash
// protects the next character. InvalidArgument: another form, an unknown key, or a key twice.
Result<Selector> parseSelector(std::string_view text);

// The selector and the value of `SEL=VALUE`, divided at the last `=`. InvalidArgument: there is
// none, or as parseSelector().
struct SelectorValue {
  Selector selector;
  std::string value;
};
Result<SelectorValue> parseSelectorValue(std::string_view text);

bool matches(const std::string& glob, const std::string& text);

}  // namespace sonde::engine::whatif
