// The shared state of the parts of an Nsight Systems import. Owned by the importer, on one thread.
#pragma once

#include "analysis/ingest/import/device_events.h"
#include "analysis/ingest/import/host_slices.h"
#include "analysis/ingest/import/imported_file.h"
#include "analysis/ingest/import/imported_places.h"
#include "analysis/ingest/nsight/nsight_file.h"
#include "analysis/ingest/nsight/nsight_names.h"
#include "analysis/ingest/nsight/nsight_table.h"
#include "analysis/model/event.h"
#include "analysis/store/trace_writer.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace sonde::ingest {

class NsightContext {
 public:
  struct Span {
    std::int64_t startNs = 0;
    model::OptionalInt durNs{};  // unset: it did not end
  };

  NsightContext(const NsightFile& file,
                store::TraceWriter& writer,
                const std::filesystem::path& scratch,
                std::string hostName,
                BytesRead bytesRead);

  // Reads the rows of a table, if it exists, and counts them as events of `category`.
  template <typename Row>
  Result<void> read(std::string_view name,
                    std::span<const NsightTable::Column> columns,
                    std::string_view category,
                    const Row& row);

  // The same for a table whose rows are parts of events; does not count them.
  template <typename Row>
  Result<void> readParts(std::string_view name,
                         std::span<const NsightTable::Column> columns,
                         const Row& row);

  // The times of a row on the clock of the trace. Unset: they do not fit, which is counted. An end
  // before the start is counted, too, and replaced by the start.
  std::optional<Span> spanOf(model::OptionalInt start, model::OptionalInt end);
  // Converts ns since the session's begin to ns since 1970. Unset: it does not fit, which is
  // counted.
  model::OptionalInt timeOf(std::int64_t sessionNs);
  void setEpoch(std::int64_t ns) noexcept { epochNs_ = ns; }

  // For a globalTid, and for a globalPid.
  const ImportedPlaces::Track& thread(std::int64_t globalTid);
  std::size_t process(std::int64_t globalPid);

  void nameProcess(std::int64_t globalPid, std::string_view name);
  void nameThread(std::int64_t globalTid, std::string_view name);

  // Adds a slice with name and category to the thread; returns its id.
  Result<model::SliceId> addSlice(model::Slice slice, std::int64_t globalTid, const Span& span);
  Result<void> addIteration(model::SliceId slice,
                            std::int64_t globalTid,
                            std::int64_t number,
                            const Span& span);
  Result<void> addArg(model::SliceId slice, std::string_view key, model::ArgValue value);

  Result<void> finish();

  const NsightFile& file;
  store::TraceWriter& writer;
  ImportedFile account;
  NsightNames names;
  ImportedPlaces places;
  HostSlices slices;
  DeviceEvents device;

 private:
  // Reports progress, and commits from time to time so that the write-ahead log stays small.
  void rowDone();

  std::int64_t epochNs_ = 0;
  BytesRead bytesRead_;
  std::uint64_t fileBytes_ = 0;
  double rowsInAll_ = 0;
  std::uint64_t rows_ = 0;
  std::unordered_map<std::int64_t, ImportedPlaces::Track> threads_;
  std::unordered_map<std::uint64_t, std::size_t> processes_;
};

template <typename Row>
Result<void> NsightContext::read(std::string_view name,
                                 std::span<const NsightTable::Column> columns,
                                 std::string_view category,
                                 const Row& row) {
  std::uint64_t rows = 0;
  const auto counted = [&](const NsightTable& each) -> Result<void> {
    ++rows;
    return row(each);
  };
  SONDE_TRY(readParts(name, columns, counted));
  if (rows > 0)
    account.events[std::string(category)] += rows;
  return {};
}

template <typename Row>
Result<void> NsightContext::readParts(std::string_view name,
                                      std::span<const NsightTable::Column> columns,
                                      const Row& row) {
  SONDE_TRY_ASSIGN(auto table, NsightTable::open(file, name, columns, account));
  const auto noted = [&](const NsightTable& each) -> Result<void> {
    SONDE_TRY(row(each));
    rowDone();
    return {};
  };
  return forEachRow(std::move(table), noted);
}

}  // namespace sonde::ingest
