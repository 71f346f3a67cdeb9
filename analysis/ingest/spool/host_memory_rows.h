// Makes rows of the memory that a process's threads allocate for themselves.
//
// An allocation is identified by its address and time. Threads free memory that others allocated,
// and the slots of two threads are read in no order. So a release may come first, and then waits
// for its allocation. A row is stored at the end of the pass it came in, so that a block that is
// freed soon is written once.
//
// Part of one ImageBuilder, on its thread.
#pragma once

#include "analysis/ingest/spool/image_context.h"
#include "analysis/model/device_work.h"
#include "base/result.h"
#include "collector/wire/memory_records.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sonde::ingest {

class HostMemoryRows {
 public:
  // The kind of state that restoreEarly() reads.
  static constexpr std::string_view kEarlyReleases = "early releases";

  explicit HostMemoryRows(ImageContext& image) : image_(image) {}

  // Handlers of records.
  void onAllocation(ImageThread& thread, const std::byte* at);
  void onRelease(ImageThread& thread, const std::byte* at);

  // `row` has all values except its id and its end.
  void allocated(const wire::Allocation& record, const model::Allocation& row);
  void released(const wire::Release& record, std::int64_t ns);

  // Stores rows that are not stored yet.
  void save();
  // Restore the state of an earlier recorder.
  void restoreEarly(std::string_view blob);
  Result<void> restore();

 private:
  struct Key {
    std::uint64_t address = 0;
    std::uint64_t ticks = 0;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept;
  };
  struct Early {
    Key key;
    std::int64_t ns = 0;
  };
  using Restored = std::unordered_multimap<std::uint64_t, model::Allocation>;

  void end(model::Allocation row, std::int64_t ns);
  Restored::iterator findRestored(const wire::Release& record);
  void saveEarly();

  ImageContext& image_;
  std::unordered_map<Key, model::Allocation, KeyHash> open_;  // id 0: not stored yet
  // the unstored ones, and some that have ended
  std::vector<Key> fresh_;
  std::unordered_map<Key, std::int64_t, KeyHash> early_;  // releases without their allocation
  bool earlyChanged_ = false;
  Restored restored_;  // open ones of an earlier recorder, by address
};

}  // namespace sonde::ingest
