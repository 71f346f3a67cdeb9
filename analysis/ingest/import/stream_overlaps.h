// Kernels whose ends lie over many later ones of their stream, which runs them one after the other:
// such an end is wrong, and with it all that is counted as busy.
//
// Staged by stream and time, so that memory does not grow with the trace. Owned by one importer, on
// one thread.
#pragma once

#include "analysis/ingest/input/external_sorter.h"
#include "analysis/model/device_work.h"
#include "analysis/store/trace_writer.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sonde::ingest {

class StreamOverlaps {
 public:
  // Fewer later ones are no fault: with programmatic dependent launch a kernel begins before the
  // one before it has ended, and short ones of a graph's branches may lie in a longer one.
  static constexpr std::uint64_t kLeast = 4;

  // Intermediate data goes to files in `folder`.
  explicit StreamOverlaps(const std::filesystem::path& folder);

  Result<void> add(const model::Kernel& kernel);

  // A line for each stream with such kernels: the one that lies over most, and the time that the
  // stream's kernels take as written and with such ends where the next kernel begins. Times are
  // `shiftNs` later. Requires: streams, devices and names are stored.
  Result<std::vector<std::string>> describe(store::TraceWriter& writer, std::int64_t shiftNs);

 private:
  struct Staged {
    std::int64_t stream;
    std::int64_t startNs;
    std::int64_t endNs;
    std::int64_t name;
    std::int64_t launch;  // correlation; 0: not known. One call's kernels are a graph's
  };
  struct ByTime {
    bool operator()(const Staged& a, const Staged& b) const noexcept;
  };
  // A kernel, and those that end before it does though they began later.
  struct Cover {
    Staged kernel{};
    std::uint64_t later = 0;
    std::int64_t firstNs = 0;    // the first of them begins
    std::int64_t withinNs = 0;   // that they take
    std::int64_t reachedNs = 0;  // their last end
  };
  struct Stream {
    Cover worst{};
    std::uint64_t covers = 0;  // that lie over kLeast or more
    std::int64_t writtenNs = 0;
    std::int64_t clippedNs = 0;
    std::int64_t writtenEndNs = 0;  // up to where both have been counted
    std::int64_t clippedEndNs = 0;
  };

  static void put(const Staged& kernel, std::optional<Cover>& open, Stream& stream);
  static void close(const Cover& cover, Stream& stream);
  static Result<std::string> lineOf(store::TraceWriter& writer,
                                    const Stream& stream,
                                    std::int64_t shiftNs);

  ExternalSorter<Staged, ByTime> staged_;
};

}  // namespace sonde::ingest
