#include "analysis/ingest/input/file_format.h"

#include "analysis/ingest/input/byte_source.h"
#include "analysis/ingest/input/other_tools.h"
#include "analysis/ingest/input/torch_dumps.h"
#include "base/shell_quote.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sonde::ingest {
namespace {

constexpr std::size_t kHeadBytes = 512;
constexpr std::size_t kMembersBytes = 64 << 10;  // enough for the first members of a JSON file
constexpr std::string_view kSqlite{"SQLite format 3\0", 16};

// Removes a varint from the front of `bytes`; unset: it is incomplete.
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

// Whether the first message can be Chakra's GlobalMetadata: empty, or a version ("0.0.4"). JSON
// text never begins like this.
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

// Common inputs that have none of the formats, by their first bytes.
struct Mistake {
  std::string_view begin;
  std::string_view what;  // what the file is, and the remedy
};
constexpr Mistake kMistakes[] = {
    {"PK\x03\x04", "is a zip archive: unpack it with unzip first"},
    {"\x28\xB5\x2F\xFD", "is compressed by zstd: unpack it with unzstd first"},
    {"\xFD"
     "7zXZ",
     "is compressed by xz: unpack it with unxz first"},
    {"BZh", "is compressed by bzip2: unpack it with bunzip2 first"},
    {"\xFF\xFE", "is text in UTF-16: convert it to UTF-8 with iconv -f UTF-16 -t UTF-8"},
    {"\xFE\xFF", "is text in UTF-16: convert it to UTF-8 with iconv -f UTF-16 -t UTF-8"},
    {{"{\0", 2}, "is text in UTF-16: convert it to UTF-8 with iconv -f UTF-16LE -t UTF-8"},
    {{"\0{", 2}, "is text in UTF-16: convert it to UTF-8 with iconv -f UTF-16BE -t UTF-8"},
};

// Called before a file is taken for Chakra's or, by default, for JSON.
Result<void> checkOtherTools(const std::filesystem::path& file, std::string_view head) {
  const std::string what = otherToolsFile(file, head);
  return what.empty() ? Result<void>()
                      : Error{ErrorCode::Unsupported, fmt::format("'{}' {}", file.string(), what)};
}

bool isReportOfNsight(const std::filesystem::path& file) {
  return file.extension() == ".nsys-rep" || file.extension() == ".qdrep";
}

Result<void> checkMistakes(const std::filesystem::path& file, std::string_view head) {
  const auto refusal = [&](std::string_view what) {
    return Error{ErrorCode::Unsupported, fmt::format("'{}' {}", file.string(), what)};
  };
  if (head.empty())
    return Error{ErrorCode::Corrupt,
                 fmt::format("'{}' is empty: was it copied whole?", file.string())};
  for (const Mistake& mistake : kMistakes)
    if (head.starts_with(mistake.begin))
      return refusal(mistake.what);
  if (isReportOfNsight(file) && !head.starts_with(kSqlite))
    return refusal(
        fmt::format("is a report that only Nsight Systems can read: export it with 'nsys export "
                    "--type sqlite {}', and import the result",
                    shellQuoted(file.string())));
  return {};
}

}  // namespace

Result<FileFormat> formatOf(const std::filesystem::path& file) {
  SONDE_TRY_ASSIGN(ByteSource source, ByteSource::open(file));
  std::vector<char> bytes(kMembersBytes);
  const auto read = source.read(bytes);
  const std::string_view members(bytes.data(), read ? *read : 0);
  const std::string_view head = members.substr(0, kHeadBytes);
  if (read)  // else an importer reports the error
    SONDE_TRY(checkMistakes(file, head));
  if (!head.starts_with(kSqlite)) {
    if (beginsLikeChakra(head) || isNamedLikeChakra(file))
      return FileFormat::Chakra;
    if (beginsLikePickle(head))
      return FileFormat::Pickle;
    if (beginsLikeFlightRecorder(members))
      return FileFormat::FlightRecorder;
    SONDE_TRY(checkOtherTools(file, head));
    return FileFormat::TraceEvents;
  }
  if (source.isCompressed())
    return Error{
        ErrorCode::Unsupported,
        fmt::format("'{}' is a compressed database: unpack it with gunzip first", file.string())};
  return FileFormat::Sqlite;
}

}  // namespace sonde::ingest
