#include "rules/baseline/baseline_document.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <ios>

namespace sonde::rules {
namespace {

using nlohmann::json;

constexpr std::size_t kMostDocumentBytes = std::size_t{64} << 20;

}  // namespace

bool isBaselineFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char first = '\0';
  return static_cast<bool>(file >> first) && first == '{';
}

Result<json> readBaselineDocument(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::array<char, 64 << 10> piece{};
  while (text.size() <= kMostDocumentBytes &&
         (file.read(piece.data(), piece.size()) || file.gcount() > 0))
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  if (file.bad() || text.empty())
    return Error{ErrorCode::Io,
                 fmt::format("{}: cannot be read: name a file of `sonde baseline`", path)};
  if (text.size() > kMostDocumentBytes)
    return Error{ErrorCode::Corrupt,
                 fmt::format("{}: has more than {} MiB: name a file of `sonde baseline`",
                             path,
                             kMostDocumentBytes >> 20)};
  json document = json::parse(text, nullptr, false);
  if (document.is_discarded())
    return Error{ErrorCode::Corrupt,
                 fmt::format("{}: $ is not JSON, or cut off: write the file anew with `sonde "
                             "baseline accept` or `learn`",
                             path)};
  return document;
}

std::string kindOf(const json& document) {
  if (!document.is_object())
    return "";
  const auto kind = document.find("kind");
  return kind != document.end() && kind->is_string() ? kind->get<std::string>() : "";
}

}  // namespace sonde::rules
