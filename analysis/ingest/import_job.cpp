#include "analysis/ingest/import_job.h"

#include "analysis/ingest/chakra/chakra_importer.h"
#include "analysis/ingest/flight_recorder/flight_importer.h"
#include "analysis/ingest/input/byte_source.h"
#include "analysis/ingest/input/rank_in_name.h"
#include "analysis/ingest/memory_snapshot/snapshot_importer.h"
#include "analysis/ingest/nsight/nsight_importer.h"
#include "analysis/ingest/operations/operation_format.h"
#include "analysis/ingest/operations/operation_importer.h"
#include "analysis/ingest/pickle/json_values.h"
#include "analysis/ingest/pickle/pickle_reader.h"
#include "analysis/ingest/trace_event/trace_event_importer.h"
#include "analysis/store/communication_kernels.h"
#include "analysis/store/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <tuple>
#include <utility>

namespace sonde::ingest {

namespace fs = std::filesystem;

namespace {

constexpr double kMegabyte = 1e6;
// Share of reading in the work on a file of trace events.
constexpr double kReading = 0.7;

// "rank-0" for "out/rank-0.json.gz".
std::string hostNameOf(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.substr(0, name.find('.'));
}

std::uint64_t sizeOf(const fs::path& file) {
  std::error_code failure;
  const auto size = fs::file_size(file, failure);
  return failure ? 0 : size;
}

// A gap between ranks beyond this is suspicious: clocks of hosts differ less.
constexpr double kFarApartSeconds = 60;  // more than clocks of hosts differ

}  // namespace

Result<ImportJob> ImportJob::create(const fs::path& part, Progress progress) {
  SONDE_TRY_ASSIGN(store::Database trace, store::createTrace(part, store::WriteMode::NoLog));
  SONDE_TRY_ASSIGN(store::TraceWriter writer, store::TraceWriter::open(std::move(trace)));
  const fs::path folder = part.has_parent_path() ? part.parent_path() : fs::path(".");
  return ImportJob(std::move(writer), folder, std::move(progress));
}

ImportJob::ImportJob(store::TraceWriter writer, fs::path scratch, Progress progress)
    : writer_(std::move(writer)), scratch_(std::move(scratch)), progress_(std::move(progress)) {}

Result<void> ImportJob::add(const std::vector<fs::path>& files) {
  for (const fs::path& file : files)
    bytesInAll_ += sizeOf(file);
  files_ = files.size();
  ranksInNames_ = ranksInNames(files);
  for (const fs::path& file : files)
    SONDE_TRY(addFile(file));
  warnOfGap();
  return {};
}

Result<void> ImportJob::checkRanks(const fs::path& file,
                                   const std::set<std::int64_t>& ranks,
                                   model::OptionalInt worldSize) {
  if (worldSize_ && worldSize && *worldSize_ != *worldSize)
    return Error{ErrorCode::Unsupported,
                 fmt::format("'{}' is from a job of {} ranks, the earlier files from one of {}: "
                             "import the files of one job",
                             file.string(),
                             *worldSize,
                             *worldSize_)};
  worldSize_ = worldSize ? worldSize : worldSize_;
  for (const std::int64_t rank : ranks) {
    const auto [other, fresh] = ranks_.try_emplace(rank, file);
    if (!fresh)
      return Error{ErrorCode::Unsupported,
                   fmt::format("'{}' and '{}' are both rank {}: import one of them",
                               other->second.string(),
                               file.string(),
                               rank)};
  }
  return {};
}

Result<ImportedFile> ImportJob::importFile(const fs::path& file, FileFormat format) {
  const auto all = static_cast<double>(std::max<std::uint64_t>(bytesInAll_, 1));
  const auto before = static_cast<double>(bytesBefore_);
  const auto size = static_cast<double>(sizeOf(file));
  const std::string name = file.filename().string();
  SONDE_TRY_ASSIGN(const bool isOperations, holdsOperations(file, format));
  const double after = format == FileFormat::TraceEvents && !isOperations ? kReading : 1;
  const BytesRead bytesRead = [=, this](std::uint64_t read) {
    const auto bytes = static_cast<double>(read);
    progress_(fmt::format("{}: {:.1f} of {:.1f} MB", name, bytes / kMegabyte, size / kMegabyte),
              (before + after * bytes) / all);
  };
  if (isOperations)
    return importOperations(file, bytesRead);
  if (format == FileFormat::Pickle || format == FileFormat::FlightRecorder)
    return importDump(file, format, bytesRead);
  const auto named = ranksInNames_.find(file);
  const auto rank =
      named == ranksInNames_.end() ? model::OptionalInt() : model::OptionalInt(named->second);
  if (format == FileFormat::Sqlite) {
    NsightImporter importer(writer_, scratch_, bytesRead);
    importer.setRankInName(rank);
    return importer.import(file);
  }
  SONDE_TRY_ASSIGN(ByteSource source, ByteSource::open(file));
  if (format == FileFormat::Chakra)
    return ChakraImporter(writer_, scratch_, hostNameOf(file), chakraRankOf(file), bytesRead)
        .import(std::move(source));
  const Progress storing([=, this](std::string_view what, double share) {
    progress_(fmt::format("{}: {}", name, what),
              (before + size * (kReading + (1 - kReading) * share)) / all);
  });
  TraceEventImporter importer(writer_, scratch_, hostNameOf(file), bytesRead, storing);
  importer.setRankInName(rank);
  return importer.import(std::move(source));
}

Result<bool> ImportJob::holdsOperations(const fs::path& file, FileFormat format) const {
  bool holds = false;
  if (format == FileFormat::TraceEvents) {
    SONDE_TRY_ASSIGN(holds, isOperationLevel(file));
  }
  if (holds && files_ > 1)
    return Error{
        ErrorCode::Unsupported,
        fmt::format("'{}' has the operations of a whole job: import it alone", file.string())};
  if (!holds && layout_)
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("'{}' is not an operation-level trace: leave out --layout", file.string())};
  return holds;
}

Result<ImportedFile> ImportJob::importOperations(const fs::path& file, const BytesRead& bytesRead) {
  SONDE_TRY_ASSIGN(ByteSource source, ByteSource::open(file));
  OperationImporter importer(writer_, scratch_, hostNameOf(file), bytesRead);
  importer.setLayout(layout_);
  return importer.import(std::move(source));
}

Result<ImportedFile> ImportJob::importDump(const fs::path& file,
                                           FileFormat format,
                                           const BytesRead& bytesRead) {
  SONDE_TRY_ASSIGN(ByteSource source, ByteSource::open(file));
  SONDE_TRY_ASSIGN(std::string bytes, readWhole(std::move(source)));
  bytesRead(sizeOf(file));
  auto values = format == FileFormat::Pickle ? readPickle(std::move(bytes), file)
                                             : readJsonValues(std::move(bytes), file);
  if (!values)
    return std::move(values).error();
  const Value dump = values->root();
  const auto named = ranksInNames_.find(file);
  const auto rank =
      named == ranksInNames_.end() ? model::OptionalInt() : model::OptionalInt(named->second);
  if (isMemorySnapshot(dump))
    return SnapshotImporter(writer_, hostNameOf(file), rank).import(dump, file.string());
  if (!isFlightDump(dump))
    return Error{
        ErrorCode::Unsupported,
        fmt::format("'{}' is neither a dump of PyTorch's NCCL flight recorder nor a memory "
                    "snapshot: give the file as PyTorch wrote it",
                    file.string())};
  return FlightImporter(writer_, hostNameOf(file), groups_, rank).import(dump, file);
}

Result<void> ImportJob::addFile(const fs::path& file) {
  SONDE_TRY_ASSIGN(const FileFormat format, formatOf(file));
  SONDE_TRY(writer_.begin());
  SONDE_TRY_ASSIGN(const ImportedFile imported, importFile(file, format));
  SONDE_TRY(checkRanks(file, imported.ranks, imported.worldSize));
  SONDE_TRY(noteSpan(file));
  summarise(summary_, file, imported);
  for (const auto& [reason, count] : lossesOf(imported)) {
    if (count > 0)
      SONDE_TRY(writer_.add(model::Loss{
          "import", "event", static_cast<std::int64_t>(count), reason, imported.process}));
  }
  bytesBefore_ += sizeOf(file);
  return writer_.commit();
}

// Notes the time span of the processes imported from the last file.
Result<void> ImportJob::noteSpan(const fs::path& file) {
  SONDE_TRY_ASSIGN(store::Statement rows,
                   writer_.database().prepare(
                       "SELECT min(start_ns), max(end_ns), max(id) FROM process WHERE id > ?"));
  rows.bindAll(lastProcess_);
  SONDE_TRY(rows.step());
  if (const auto begin = rows.optionalInteger(0))
    spans_.push_back({*begin, rows.optionalInteger(1).value_or(*begin), file});
  lastProcess_ = rows.optionalInteger(2).value_or(lastProcess_);
  return {};
}

// Ranks of one job run at the same time.
void ImportJob::warnOfGap() {
  std::sort(spans_.begin(), spans_.end(), [](const Span& a, const Span& b) {
    return a.beginNs < b.beginNs;
  });
  for (std::size_t next = 1; next < spans_.size(); ++next) {
    Span& last = spans_[next - 1];
    Span& span = spans_[next];
    const double seconds =
        1e-9 * (static_cast<double>(span.beginNs) - static_cast<double>(last.endNs));
    if (seconds > kFarApartSeconds) {
      summary_.warnings.push_back(
          fmt::format("'{}' and '{}' are {:.1f} s apart: they belong to different runs, or their "
                      "clocks have different origins",
                      last.file.string(),
                      span.file.string(),
                      seconds));
      return;
    }
    if (last.endNs > span.endNs)  // the later end of both
      std::tie(span.endNs, span.file) = std::tie(last.endNs, last.file);
  }
}

Result<store::Database> ImportJob::release() {
  SONDE_TRY(writer_.begin());
  SONDE_TRY(writer_.add(model::Meta{"job", ""}));
  SONDE_TRY(writer_.add(model::Meta{"imported", "1"}));
  for (const std::string& pattern : communication_) {
    const std::string key = std::string(store::kCommunicationMeta) + pattern;
    SONDE_TRY(writer_.add(model::Meta{key, "1"}));
  }
  for (const std::string& warning : summary_.warnings) {
    model::Note note;
    note.severity = model::Severity::Warning;
    note.source = "import";
    note.text = warning;
    SONDE_TRY(writer_.add(note));
  }
  SONDE_TRY(writer_.commit());
  return store::TraceWriter::release(std::move(writer_));
}

}  // namespace sonde::ingest
