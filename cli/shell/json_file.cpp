#include "cli/shell/json_file.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdio>
#include <optional>
#include <utility>

namespace sonde::cli {
namespace {

// nullopt: it cannot be read, for example because it is a folder.
std::optional<std::string> contentOf(const std::string& path) {
  FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr)
    return std::nullopt;
  std::string text;
  char piece[1 << 14];
  while (const std::size_t length = std::fread(piece, 1, sizeof piece, file))
    text.append(piece, length);
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  return failed ? std::nullopt : std::optional(std::move(text));
}

}  // namespace

Result<nlohmann::json> readJsonFile(const std::string& path, const std::string& kind) {
  const auto text = contentOf(path);
  if (!text)
    return Error{ErrorCode::Io, fmt::format("{} cannot be read: name {}", path, kind)};
  nlohmann::json document = nlohmann::json::parse(*text, nullptr, false);
  if (document.is_discarded())
    return errorOfFile(path, kind, {ErrorCode::Corrupt, "it is not JSON"});
  if (!document.is_object())
    return errorOfFile(path, kind, {ErrorCode::Corrupt, "it is not a JSON object"});
  return document;
}

Error errorOfFile(const std::string& path, const std::string& kind, const Error& error) {
  const bool damaged = error.code == ErrorCode::Corrupt;
  return {
      error.code,
      fmt::format("{}: {}{}", path, damaged ? fmt::format("not {}: ", kind) : "", error.message)};
}

std::string reasonOf(const nlohmann::json::exception& error) {
  const std::string text = error.what();
  return text.substr(text.starts_with('[') ? text.find("] ") + 2 : 0);
}

}  // namespace sonde::cli
