// Names and their values inside a text that is one argument of a command: a shell's or Python's
// script, an HTTP header, JSON. A heuristic, which takes rather too much for the value than too
// little. Plain functions; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace sonde::recorder {

inline constexpr std::string_view kBlanks = " \t\r\n";

bool isQuote(char letter);
bool isNameLetter(char letter);

// Where a value begins and ends in its text, without its quotes.
struct ValueSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Where the name that begins at `at` ends.
std::size_t nameEnd(std::string_view text, std::size_t at);

// What follows the name text[begin, end) as its value: `name=value`, `name: value` up to the end of
// the line or of the quotes around both, `"name": "value"`, `--name value`, `Bearer value`.
std::optional<ValueSpan> valueOf(std::string_view text, std::size_t begin, std::size_t end);

}  // namespace sonde::recorder
