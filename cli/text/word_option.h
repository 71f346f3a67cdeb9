// Options whose value is one of a few words, mainly `--format`. Plain functions.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace sonde::cli {

template <typename Value>
using OptionWords = std::vector<std::pair<std::string, Value>>;

// Lists words: "table, json or csv" with `between` ", " and `last` " or ".
template <typename Value>
std::string listed(const OptionWords<Value>& words, const char* between, const char* last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0)
      text += i + 1 == words.size() ? last : between;
    text += words[i].first;
  }
  return text;
}

// Makes `option` accept one of `words`; `what` names the option's kind in errors ("format"). CLI11
// itself would also accept the number of an enumerator, and list the numbers in its errors.
template <typename Value>
CLI::Option* takeOneOf(const OptionWords<Value>& words, const char* what, CLI::Option* option) {
  const CLI::Validator word(
      [words, what](std::string& text) {
        const auto found = std::find_if(
            words.begin(), words.end(), [&](const auto& each) { return each.first == text; });
        if (found == words.end())
          return fmt::format(
              "there is no {} '{}': use {}", what, text, listed(words, ", ", " or "));
        text = std::to_string(static_cast<int>(found->second));
        return std::string();
      },
      "");
  return option->transform(word)->type_name(listed(words, "|", "|"));
}

// Adds `--format`; the first word is the default.
template <typename Value>
void addFormatOption(CLI::App& app,
                     Value& format,
                     const OptionWords<Value>& words,
                     const char* help) {
  takeOneOf(words, "format", app.add_option("--format", format, help))
      ->default_str(words.front().first);
}

}  // namespace sonde::cli
