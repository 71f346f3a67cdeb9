#include "analysis/ingest/input/file_format.h"

#include "analysis/ingest/input/byte_source.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace sonde::ingest {
namespace {

constexpr std::size_t kHeadBytes = 512;
constexpr std::string_view kSqlite{"SQLite format 3\0", 16};

}  // namespace

Result<FileFormat> formatOf(const std::filesystem::path& file) {
  SONDE_TRY_ASSIGN(ByteSource source, ByteSource::open(file));
  std::array<char, kHeadBytes> bytes{};
  const auto read = source.read(bytes);
  if (!read)  // the importer says what is wrong
    return FileFormat::TraceEvents;
  const std::string_view head(bytes.data(), *read);
  if (!head.starts_with(kSqlite))
    return FileFormat::TraceEvents;
  if (source.isCompressed())
    return Error{
        ErrorCode::Unsupported,
        fmt::format("'{}' is a compressed database: unpack it with gunzip first", file.string())};
  return FileFormat::Sqlite;
}

}  // namespace sonde::ingest
