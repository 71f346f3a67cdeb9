// The option `--format` of the verbs that print for people and for programs. Plain functions.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace sonde::cli {

template <typename Format>
using FormatWords = std::vector<std::pair<std::string, Format>>;

// "table, json or csv", with these between all but the last two and between those.
template <typename Format>
std::string listed(const FormatWords<Format>& words, const char* between, const char* last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0)
      text += i + 1 == words.size() ? last : between;
    text += words[i].first;
  }
  return text;
}

// Adds `--format`, whose default is the first word. CLI11 would take the number of an enumerator,
// too, and names them when it refuses a word.
template <typename Format>
void addFormatOption(CLI::App& app,
                     Format& format,
                     const FormatWords<Format>& words,
                     const char* help) {
  const CLI::Validator word(
      [words](std::string& text) {
        const auto found = std::find_if(
            words.begin(), words.end(), [&](const auto& each) { return each.first == text; });
        if (found == words.end())
          return fmt::format("there is no format '{}': use {}", text, listed(words, ", ", " or "));
        text = std::to_string(static_cast<int>(found->second));
        return std::string();
      },
      "");
  app.add_option("--format", format, help)
      ->transform(word)
      ->type_name(listed(words, "|", "|"))
      ->default_str(words.front().first);
}

}  // namespace sonde::cli
