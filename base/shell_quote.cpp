#include "base/shell_quote.h"

#include <algorithm>

namespace sonde {
namespace {

bool isPlain(char letter) {
  constexpr std::string_view kPlain = "@%+=:,./-_";
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || kPlain.find(letter) != std::string_view::npos;
}

}  // namespace

std::string shellQuoted(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), isPlain))
    return std::string(text);
  std::string quoted = "'";
  for (const char letter : text)
    letter == '\'' ? quoted.append("'\\''") : quoted.append(1, letter);
  return quoted + "'";
}

}  // namespace sonde
