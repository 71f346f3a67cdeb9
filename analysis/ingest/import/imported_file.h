// What came out of one file of another profiler, besides its rows. Plain values; any thread.
#pragma once

#include "analysis/model/place.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sonde::ingest {

// Gets the bytes of the file that have been read, now and then.
using BytesRead = std::function<void(std::uint64_t)>;

struct FileFaults {
  std::uint64_t events = 0;         // that could not be read
  std::string first;                // what is wrong with the first, and where
  std::uint64_t repaired = 0;       // bytes that are no UTF-8, or control characters in a text
  std::uint64_t firstRepaired = 0;  // where the first is
  std::string cutShort;             // not empty: why the file could not be read to its end

  // One more that could not be read. `what` is only asked for the first.
  template <typename What>
  void add(const What& what) {
    if (events++ == 0)
      first = what();
  }
};

// Ends of arrows (flows) that are in no link.
struct LooseArrows {
  std::uint64_t count = 0;
  std::uint64_t first = 0;  // where in the file the first of them is

  void add(std::uint64_t at) { first = count++ == 0 ? at : std::min(first, at); }
};

struct ImportedFile {
  std::map<std::string, std::uint64_t, std::less<>> events;  // by category
  // Events that became rows; none: all of `events` but those not kept.
  std::optional<std::uint64_t> kept;
  std::uint64_t notKept = 0;      // events of no use: what they say is said elsewhere
  std::uint64_t unsupported = 0;  // events of kinds that are not imported
  std::uint64_t negative = 0;     // durations below zero, taken for zero
  std::uint64_t badTimes = 0;     // events without a time that can be read, left out
  std::uint64_t impossible = 0;   // events whose time cannot be, left out
  std::uint64_t unpaired = 0;     // ends without a begin, left out
  LooseArrows arrows;             // left out
  FileFaults faults;
  FileFaults values;  // single values that could not be read: their events are kept without them
  std::vector<std::string> warnings;  // what else is to be said of it, a line each
  model::ProcessId process{};         // that the file is of
  std::set<std::int64_t> ranks;
  model::OptionalInt worldSize{};
};

}  // namespace sonde::ingest
