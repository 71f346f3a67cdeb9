// Sorts more records than fit into memory: writes sorted runs to a file without a name, and merges
// them.
//
// Owned by one importer, on one thread. Memory: `inMemory` records while adding; a small buffer per
// run while merging.
#pragma once

#include "analysis/ingest/input/spill_file.h"
#include "base/result.h"

#include <queue>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace sonde::ingest {

// `Less` is a strict weak order; the order of equal records is unspecified.
template <typename Record, typename Less>
class ExternalSorter {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  // Spills runs to a file in `folder`.
  ExternalSorter(std::filesystem::path folder, std::size_t inMemory)
      : spill_(std::move(folder)), inMemory_(inMemory) {}

  Result<void> add(const Record& record) {
    if (records_.capacity() == 0)
      records_.reserve(inMemory_);  // only reserves address space until used
    if (records_.size() == inMemory_)
      SONDE_TRY(spillRun());
    records_.push_back(record);
    return {};
  }

  // Call after the last add().
  Result<void> sort() {
    if (runs_.empty()) {
      std::sort(records_.begin(), records_.end(), Less{});
      return {};
    }
    SONDE_TRY(spillRun());
    std::vector<Record>().swap(records_);
    for (Run& run : runs_) {
      SONDE_TRY_ASSIGN(const bool any, advance(run));
      if (any)
        heads_.push(&run);
    }
    return {};
  }

  // Reads the next record in order; false at the end. Requires: sort().
  Result<bool> next(Record& into) {
    if (runs_.empty()) {
      if (given_ == records_.size())
        return false;
      into = records_[given_++];
      return true;
    }
    if (heads_.empty())
      return false;
    Run* const run = heads_.top();
    heads_.pop();
    into = run->part[run->at];
    SONDE_TRY_ASSIGN(const bool more, advance(*run));
    if (more)
      heads_.push(run);
    return true;
  }

 private:
  static constexpr std::size_t kMergeBytes = 256 << 10;

  // A sorted run, read part by part.
  struct Run {
    std::uint64_t next = 0;  // in the file
    std::uint64_t end = 0;
    std::vector<Record> part;
    std::size_t at = 0;
  };

  struct Later {
    bool operator()(const Run* a, const Run* b) const {
      return Less{}(b->part[b->at], a->part[a->at]);
    }
  };

  Result<void> spillRun() {
    std::sort(records_.begin(), records_.end(), Less{});
    Run run;
    run.next = spill_.size();
    SONDE_TRY(spill_.append(records_.data(), records_.size() * sizeof(Record)));
    run.end = spill_.size();
    runs_.push_back(std::move(run));
    records_.clear();
    return {};
  }

  // False: the run has ended.
  Result<bool> advance(Run& run) {
    if (++run.at < run.part.size())
      return true;
    const std::uint64_t bytes = std::min<std::uint64_t>(
        run.end - run.next,
        std::max<std::size_t>(kMergeBytes / sizeof(Record), 1) * sizeof(Record));
    run.part.resize(bytes / sizeof(Record));
    run.at = 0;
    if (bytes == 0)
      return false;
    SONDE_TRY(spill_.read(run.next, run.part.data(), bytes));
    run.next += bytes;
    return true;
  }

  SpillFile spill_;
  std::size_t inMemory_;
  std::vector<Record> records_;
  std::size_t given_ = 0;
  std::vector<Run> runs_;
  std::priority_queue<Run*, std::vector<Run*>, Later> heads_;
};

}  // namespace sonde::ingest
