// Finds kernels with wrong ends. A stream runs kernels one after the other, so an end after many
// later kernels is wrong, and so is all time counted as busy because of it.
//
// Staged by stream and time, so memory does not grow with the trace. Owned by one importer, on one
// thread.
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
  // Fewer later kernels are normal. With programmatic dependent launch a kernel begins before the
  // previous one ends, and short kernels of a graph's branches may be inside a longer one.
  static constexpr std::uint64_t kLeast = 4;

  // Intermediate data goes to files in `folder`.
  explicit StreamOverlaps(const std::filesystem::path& folder);

  Result<void> add(const model::Kernel& kernel);

  // Returns a line for each stream with such kernels: the kernel with the most later ones inside,
  // and the stream's kernel time, as written and with those ends cut at the next kernel's begin.
  // Times are shifted by `shiftNs`. Requires: streams, devices and names are stored.
  Result<std::vector<std::string>> describe(store::TraceWriter& writer, std::int64_t shiftNs);

 private:
  struct Staged {
    std::int64_t stream;
    std::int64_t startNs;
    std::int64_t endNs;
    std::int64_t name;
    std::int64_t launch;  // correlation; 0: unknown. Kernels of one call belong to a graph
  };
  struct ByTime {
    bool operator()(const Staged& a, const Staged& b) const noexcept;
  };
  // A kernel, and later-begun kernels that end before it does.
  struct Cover {
    Staged kernel{};
    std::uint64_t later = 0;
    std::int64_t firstNs = 0;    // begin of the first of them
    std::int64_t withinNs = 0;   // their total time
    std::int64_t reachedNs = 0;  // their last end
  };
  struct Stream {
    Cover worst{};
    std::uint64_t covers = 0;  // kernels with kLeast or more inside
    std::int64_t writtenNs = 0;
    std::int64_t clippedNs = 0;
    std::int64_t writtenEndNs = 0;  // end of the part already counted
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
