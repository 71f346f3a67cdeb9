#include "analysis/ingest/input/file_format.h"

#include "analysis/ingest/input/byte_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sonde::ingest {
namespace {

constexpr std::size_t kHeadBytes = 512;
constexpr std::string_view kSqlite{"SQLite format 3\0", 16};

// Takes a varint from the front of `bytes`; none: there is no whole one.
std::optional<std::uint64_t> takeVarint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if ((byte & 0x80U) == 0)
      return value;
  }
  return {};
}

// Whether the first message can be Chakra's GlobalMetadata: empty, or a version ("0.0.4"). No JSON
// text begins so.
bool beginsLikeChakra(std::string_view head) {
  constexpr char kVersionTag = '\x0a';
  const auto length = takeVarint(head);
  if (!length)
    return false;
  if (*length == 0)
    return !head.empty();
  if (!head.starts_with(kVersionTag))
    return false;
  head.remove_prefix(1);
  const auto size = takeVarint(head);
  if (!size || *size >= *length || *size > head.size())
    return false;
  const std::string_view version = head.substr(0, *size);
  return std::all_of(version.begin(), version.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '+';
  });
}

bool isNamedLikeChakra(const std::filesystem::path& file) {
  return file.extension() == ".et" ||
         (file.extension() == ".gz" && file.stem().extension() == ".et");
}

}  // namespace

Result<FileFormat> formatOf(const std::filesystem::path& file) {
  SONDE_TRY_ASSIGN(ByteSource source, ByteSource::open(file));
  std::array<char, kHeadBytes> bytes{};
  const auto read = source.read(bytes);
  const std::string_view head(bytes.data(), read ? *read : 0);  // an importer says what is wrong
  if (!head.starts_with(kSqlite))
    return beginsLikeChakra(head) || isNamedLikeChakra(file) ? FileFormat::Chakra
                                                             : FileFormat::TraceEvents;
  if (source.isCompressed())
    return Error{
        ErrorCode::Unsupported,
        fmt::format("'{}' is a compressed database: unpack it with gunzip first", file.string())};
  return FileFormat::Sqlite;
}

}  // namespace sonde::ingest
