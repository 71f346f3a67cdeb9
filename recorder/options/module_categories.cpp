#include "recorder/options/module_categories.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace sonde::recorder {
namespace {

constexpr std::array<std::string_view, 4> kCategories = {
    "framework", "simulator", "other", "python"};

// A name may also contain letters beyond ASCII; Python checks these better.
bool isModuleName(std::string_view name) {
  const auto stands = [](char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    return std::isalnum(byte) != 0 || letter == '_' || letter == '.' || byte >= 0x80;
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), stands);
}

}  // namespace

Result<std::string> moduleCategories(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) {
    const std::size_t at = item.find('=');
    const std::string_view name = std::string_view(item).substr(0, at);
    const std::string_view category =
        at == std::string::npos ? std::string_view() : std::string_view(item).substr(at + 1);
    if (at == std::string::npos || !isModuleName(name))
      return Error{
          ErrorCode::InvalidArgument,
          fmt::format("'{}' is not MODULE=CATEGORY: write it like my_env=simulator", item)};
    if (std::find(kCategories.begin(), kCategories.end(), category) == kCategories.end())
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("'{}' is not a category: choose framework, simulator, other, or "
                               "python to leave the module out",
                               category)};
    text += (text.empty() ? "" : ",") + item;
  }
  return text;
}

}  // namespace sonde::recorder
