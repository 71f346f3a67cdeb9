// Events with separate records for begin and end (B and E, b and e), anywhere in the file. Owned by
// one importer, on one thread; memory grows with the number of open events of a thread at one
// instant.
#pragma once

#include "analysis/ingest/import/event_fields.h"
#include "analysis/ingest/import/imported_places.h"
#include "analysis/ingest/input/external_sorter.h"
#include "analysis/ingest/input/spill_file.h"
#include "analysis/model/event.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace sonde::ingest {

struct OpenEvent {
  model::Slice row{};  // `category` outlives it
  ImportedPlaces::Track track{};
  OptionalNumber iteration{};   // its number, if it is an iteration
  OptionalNumber externalId{};  // of an operator, or of a call that starts work on a device
};

class OpenEvents {
 public:
  // Intermediate data goes to files in `folder`.
  explicit OpenEvents(const std::filesystem::path& folder);

  Result<void> begin(const TraceEvent& event, OpenEvent open);
  Result<void> end(const TraceEvent& event);

  // Receives each event that began, with its duration (unset: it did not end) and its arguments as
  // JSON text (from both records; empty: none).
  using Ended = std::function<Result<void>(OpenEvent, model::OptionalInt, std::string_view)>;
  struct Counts {
    std::uint64_t neverEnded = 0;
    std::uint64_t neverBegun = 0;
  };
  // Pairs begins and ends. An end closes the event of its thread (asynchronous: of its category and
  // id) that began last, by time and then by place in the file; one with its name is preferred.
  // Call once, at the end.
  Result<Counts> pair(const Ended& ended);

 private:
  struct Record {
    OpenEvent open{};  // of a begin
    std::size_t key = 0;
    std::size_t name = 0;  // 0: an end without a name
    std::int64_t ns = 0;
    std::uint64_t number = 0;  // in the file
    std::uint64_t argsAt = 0;  // in the spill file
    std::uint64_t argsBytes = 0;
    bool isEnd = false;
  };
  class Stack;
  struct ByTime {
    bool operator()(const Record& a, const Record& b) const noexcept;
  };

  std::size_t keyOf(const TraceEvent& event);
  Result<void> add(const TraceEvent& event, Record record);
  Result<void> keepArgs(std::string_view json, Record& record);
  Result<std::string> argsOf(const Record& record) const;
  Result<void> leaveOpen(Stack& open, const Ended& ended, Counts& counts) const;

  ExternalSorter<Record, ByTime> records_;
  SpillFile spilled_;
  std::string waiting_;  // arguments after those already spilled
  std::set<std::string, std::less<>> categories_;
  std::uint64_t number_ = 0;
  std::string key_;
};

}  // namespace sonde::ingest
