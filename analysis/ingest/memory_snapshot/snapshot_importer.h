// Imports a memory snapshot of PyTorch's CUDA caching allocator (a pickle that
// torch.cuda.memory._dump_snapshot wrote) as the `allocation` rows of one process, with the memory
// that the allocator holds as counters.
//
// Owned by one import, on one thread. Memory: the whole snapshot.
#pragma once

#include "analysis/ingest/flight_recorder/python_stacks.h"
#include "analysis/ingest/import/imported_file.h"
#include "analysis/ingest/import/imported_places.h"
#include "analysis/ingest/pickle/value_tree.h"
#include "analysis/model/device_work.h"
#include "analysis/store/trace_writer.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sonde::ingest {

// Whether the value is a snapshot: it has segments.
bool isMemorySnapshot(const Value& value);

class SnapshotImporter {
 public:
  // `rank`: from the file's name, if it has one.
  SnapshotImporter(store::TraceWriter& writer, std::string hostName, model::OptionalInt rank);

  // Call once. Requires: an open transaction; isMemorySnapshot(snapshot). Corrupt: it has no block
  // that can be read. `file`: for errors.
  Result<ImportedFile> import(const Value& snapshot, const std::string& file);

 private:
  using Place = std::pair<std::int64_t, std::int64_t>;  // device, address
  struct Block {
    std::int64_t device = 0;
    std::int64_t address = 0;
    std::int64_t bytes = 0;
    std::optional<std::int64_t> allocNs;  // unset: before the history begins
    std::optional<std::int64_t> freeNs;
    Value frames;
  };

  void readHistory(const Value& traces);
  void readEvent(std::int64_t device, const Value& event);
  // The memory that the allocator holds on a device.
  struct Reserved {
    std::int64_t bytes = 0;
    std::int64_t inUse = 0;
    std::int64_t largestFree = 0;
  };

  void readSegments(const Value& segments);
  void readBlock(const Block& block, const Value& state);
  Result<void> store();
  Result<void> storeReserved(std::int64_t ns);

  store::TraceWriter& writer_;
  ImportedPlaces places_;
  PythonStacks stacks_;
  ImportedFile result_;
  std::vector<Block> blocks_;
  std::map<std::int64_t, Reserved> reserved_;  // by device
  std::map<Place, std::size_t> open_;          // index of the block that is there now
  std::optional<std::int64_t> firstNs_;
  std::int64_t lastNs_ = 0;
  std::uint64_t withoutTime_ = 0;
};

}  // namespace sonde::ingest
