// Finds names and their values inside a text that is one argument of a command: a shell's or
// Python's script, an HTTP header, JSON. A heuristic that takes rather too much than too little for
// the value. Plain functions; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace sonde::recorder {

inline constexpr std::string_view kBlanks = " \t\r\n";

bool isQuote(char letter);
bool isNameLetter(char letter);

// The position of a value in its text, without its quotes.
struct ValueSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Returns the end of the name that begins at `at`.
std::size_t nameEnd(std::string_view text, std::size_t at);

// Returns the value of the name text[begin, end): `name=value`, `name: value` up to the end of the
// line or of the quotes around both, `"name": "value"`, `--name value`, `Bearer value`.
std::optional<ValueSpan> valueOf(std::string_view text, std::size_t begin, std::size_t end);

}  // namespace sonde::recorder
