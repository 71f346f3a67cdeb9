// Imports counter events (C) as counters and samples, or as scalars that the program reported of
// its training. Owned by one importer, on one thread; memory grows with the number of counters.
#pragma once

#include "analysis/ingest/import/event_fields.h"
#include "analysis/ingest/import/imported_places.h"
#include "analysis/ingest/input/external_sorter.h"
#include "analysis/store/trace_writer.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::ingest {

class CounterEvents {
 public:
  // Longer arguments are not a counter's and waste memory: do not pass them.
  static constexpr std::size_t kLongestArgs = 1 << 20;

  // Intermediate data goes to files in `folder`.
  explicit CounterEvents(const std::filesystem::path& folder);

  // Each number among the arguments is a counter, named by the event, its id and the argument:
  // "memory id: 0x1 used"; an argument "value" adds nothing. `process`: its index; unset: of the
  // host.
  struct Added {
    bool any = false;              // it has a number
    std::uint32_t unreadable = 0;  // numbers that do not fit into a double
  };
  Result<Added> add(const TraceEvent& event, std::optional<std::size_t> process);

  // Stores everything inside `window`, shifted by `shiftNs`. Requires: an open transaction.
  Result<void> finish(store::TraceWriter& writer,
                      const ImportedPlaces& places,
                      std::int64_t shiftNs,
                      const TimeWindow& window = {});
  // The number of counter values that were left out.
  std::uint64_t leftOut() const noexcept { return leftOut_; }

 private:
  struct Series {
    bool isScalar = false;
    std::string name;
    std::string unit;
    std::optional<std::size_t> process{};
    auto operator<=>(const Series&) const = default;
  };
  struct Staged {
    std::int64_t ns;
    double value;
    std::int64_t iteration;
    std::uint32_t series;
    bool hasIteration;
  };
  struct ByTime {
    bool operator()(const Staged& a, const Staged& b) const noexcept {
      return a.series != b.series ? a.series < b.series : a.ns < b.ns;
    }
  };

  static std::string nameOf(const TraceEvent& event, std::string_view argument);
  std::uint32_t seriesOf(const TraceEvent& event,
                         std::string_view argument,
                         std::optional<std::size_t> process);
  struct Rows {  // the rows of a series
    model::StringId name{};
    model::CounterId counter{};  // none: they are scalars
    model::ProcessId process{};
  };
  static Result<Rows> rowsOf(store::TraceWriter& writer,
                             const ImportedPlaces& places,
                             const Series& series);
  static Result<void> store(store::TraceWriter& writer, const Rows& rows, const Staged& sample);

  std::map<Series, std::uint32_t> numbers_;
  std::vector<const Series*> series_;  // by number
  ExternalSorter<Staged, ByTime> staged_;
  std::uint64_t leftOut_ = 0;
};

}  // namespace sonde::ingest
