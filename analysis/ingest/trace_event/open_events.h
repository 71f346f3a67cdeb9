// Events that begin and end in records of their own (B and E, b and e), wherever in the file these
// stand. Owned by one importer, on one thread; memory grows with what is open at one instant of a
// thread.
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
  OptionalNumber iteration{};   // its number, if it is one
  OptionalNumber externalId{};  // of an operator, or of a call that starts work on a device
};

class OpenEvents {
 public:
  // Intermediate data goes to files in `folder`.
  explicit OpenEvents(const std::filesystem::path& folder);

  Result<void> begin(const TraceEvent& event, OpenEvent open);
  Result<void> end(const TraceEvent& event);

  // Gets each event that began, with how long it lasted (none: it did not end) and its arguments as
  // JSON text (of both records; empty: none).
  using Ended = std::function<Result<void>(OpenEvent, model::OptionalInt, std::string_view)>;
  struct Counts {
    std::uint64_t neverEnded = 0;
    std::uint64_t neverBegun = 0;
  };
  // An end closes what began last, by time and then by place in the file, of its thread or, if it
  // is asynchronous, of its category and id: of its name if one such is open. Once, at the end.
  Result<Counts> pair(const Ended& ended);

 private:
  struct Record {
    OpenEvent open{};  // of a begin
    std::size_t key = 0;
    std::size_t name = 0;  // 0: an end that names none
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
  std::string waiting_;  // arguments that come after what is spilled
  std::set<std::string, std::less<>> categories_;
  std::uint64_t number_ = 0;
  std::string key_;
};

}  // namespace sonde::ingest
