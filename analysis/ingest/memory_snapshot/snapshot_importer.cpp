#include "analysis/ingest/memory_snapshot/snapshot_importer.h"

#include "analysis/model/times.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace sonde::ingest {
namespace {

constexpr std::int64_t kNsPerMicro = 1000;

// Unset: absent, not a number, or it does not fit.
std::optional<std::int64_t> timeOf(const Value& event) {
  const auto micros = event.find("time_us").integer();
  std::int64_t ns = 0;
  if (!micros || *micros <= 0 || __builtin_mul_overflow(*micros, kNsPerMicro, &ns) ||
      !model::isTime(ns))
    return {};
  return ns;
}

bool isMemory(std::optional<std::int64_t> address, std::optional<std::int64_t> bytes) {
  return address && bytes && *bytes >= 0;
}

}  // namespace

bool isMemorySnapshot(const Value& value) {
  return value.find("segments").isSequence();
}

SnapshotImporter::SnapshotImporter(store::TraceWriter& writer,
                                   std::string hostName,
                                   model::OptionalInt rank)
    : writer_(writer), places_(writer, std::move(hostName)), stacks_(writer) {
  places_.setRank(rank, {});
  if (rank)
    result_.ranks.insert(*rank);
}

Result<ImportedFile> SnapshotImporter::import(const Value& snapshot, const std::string& file) {
  readHistory(snapshot.find("device_traces"));
  readSegments(snapshot.find("segments"));
  if (blocks_.empty())
    return Error{
        ErrorCode::Corrupt,
        result_.faults.events > 0
            ? fmt::format("'{}': none of its {} blocks and events can be read; the first is {}",
                          file,
                          result_.faults.events,
                          result_.faults.first)
            : fmt::format("'{}': the memory snapshot has no block in use and no history: "
                          "call torch.cuda.memory._record_memory_history() first",
                          file)};
  SONDE_TRY(store());
  return std::move(result_);
}

void SnapshotImporter::readHistory(const Value& traces) {
  for (std::size_t device = 0; device < traces.size(); ++device)
    for (std::size_t at = 0; at < traces.at(device).size(); ++at)
      readEvent(static_cast<std::int64_t>(device), traces.at(device).at(at));
}

void SnapshotImporter::readEvent(std::int64_t device, const Value& event) {
  const std::string_view action = event.find("action").text().value_or("");
  ++result_.events["event"];
  if (action != "alloc" && action != "free_completed") {
    ++result_.notKept;  // of segments, which hold the blocks; or a request that another event ends
    return;
  }
  const auto address = event.find("addr").integer();
  const auto bytes = event.find("size").integer();
  if (!isMemory(address, bytes)) {
    result_.faults.add(
        [&] { return fmt::format("an event of device {} without addr or size", device); });
    return;
  }
  const auto ns = timeOf(event);
  if (ns) {
    firstNs_ = std::min(firstNs_.value_or(*ns), *ns);
    lastNs_ = std::max(lastNs_, *ns);
  }
  const Place place(device, *address);
  const auto open = open_.find(place);
  if (action == "alloc") {
    blocks_.push_back({device, *address, *bytes, ns, {}, event.find("frames")});
    open_[place] = blocks_.size() - 1;
    return;
  }
  if (open != open_.end()) {
    blocks_[open->second].freeNs = ns.value_or(lastNs_);
    open_.erase(open);
    ++result_.notKept;  // the end of a row
  } else {
    blocks_.push_back({device, *address, *bytes, {}, ns.value_or(lastNs_), {}});
  }
}

void SnapshotImporter::readSegments(const Value& segments) {
  for (std::size_t at = 0; at < segments.size(); ++at) {
    const Value segment = segments.at(at);
    const std::int64_t device = segment.find("device").integer().value_or(0);
    std::int64_t next = segment.find("address").integer().value_or(0);
    const Value blocks = segment.find("blocks");
    for (std::size_t each = 0; each < blocks.size(); ++each) {
      const Value block = blocks.at(each);
      const auto bytes = block.find("size").integer();
      const auto address = block.find("address").integer().value_or(next);  // absent before 2.1
      if (!isMemory(address, bytes) || __builtin_add_overflow(address, *bytes, &next)) {
        result_.faults.add(
            [&] { return fmt::format("block {} of segment {}, which has no size", each, at); });
        continue;
      }
      readBlock({device, address, *bytes, {}, {}, block.find("frames")}, block.find("state"));
    }
  }
}

// A block in use that the history does not have was allocated before it.
void SnapshotImporter::readBlock(const Block& block, const Value& state) {
  ++result_.events["block"];
  const bool isInUse = state.text().value_or("").starts_with("active");
  Reserved& reserved = reserved_[block.device];
  reserved.bytes += block.bytes;
  if (isInUse)
    reserved.inUse += block.bytes;
  else
    reserved.largestFree = std::max(reserved.largestFree, block.bytes);
  if (!isInUse || !open_.emplace(Place(block.device, block.address), blocks_.size()).second) {
    ++result_.notKept;
    return;
  }
  blocks_.push_back(block);
}

Result<void> SnapshotImporter::store() {
  const std::int64_t beginNs = firstNs_.value_or(0);
  const ImportedPlaces::Track track = places_.track({}, {"caching allocator", {}});
  places_.cover(track, beginNs, std::max(beginNs, lastNs_));
  std::vector<model::Allocation> rows;
  for (const Block& block : blocks_) {
    model::Allocation row;
    row.processId = places_.idOf(ImportedPlaces::kMain);
    row.deviceId = places_.device(ImportedPlaces::kMain, block.device);
    row.allocator = model::Allocator::Cuda;
    row.address = block.address;
    row.bytes = block.bytes;
    row.allocNs = block.allocNs.value_or(beginNs);
    if (block.freeNs)
      row.freeNs = std::max(*block.freeNs, row.allocNs);
    withoutTime_ += block.allocNs ? 0U : 1U;
    rows.push_back(row);
  }
  for (const auto& [device, reserved] : reserved_)
    places_.device(ImportedPlaces::kMain, device);
  SONDE_TRY(places_.finish(0));
  SONDE_TRY(storeReserved(std::max(beginNs, lastNs_)));
  result_.process = places_.idOf(ImportedPlaces::kMain);
  for (std::size_t at = 0; at < rows.size(); ++at) {
    SONDE_TRY_ASSIGN(rows[at].stackId, stacks_.stackOf(blocks_[at].frames));
    SONDE_TRY(writer_.add(rows[at]));
  }
  if (withoutTime_ > 0)
    result_.warnings.push_back(fmt::format(
        "{} blocks were allocated before the history begins: they begin with it", withoutTime_));
  return {};
}

Result<void> SnapshotImporter::storeReserved(std::int64_t ns) {
  for (const auto& [device, reserved] : reserved_) {
    const std::pair<std::string_view, std::int64_t> values[] = {
        {"allocator reserved", reserved.bytes},
        {"allocator in use", reserved.inUse},
        {"allocator largest free block", reserved.largestFree}};
    for (const auto& [name, bytes] : values) {
      model::Counter counter;
      counter.hostId = places_.host(ImportedPlaces::kMain);
      counter.processId = places_.idOf(ImportedPlaces::kMain);
      counter.deviceId = places_.device(ImportedPlaces::kMain, device);
      SONDE_TRY_ASSIGN(counter.nameId, writer_.intern(name));
      counter.unit = "bytes";
      SONDE_TRY_ASSIGN(const model::CounterId id, writer_.add(counter));
      SONDE_TRY(writer_.add(model::Sample{id, ns, static_cast<double>(bytes)}));
    }
  }
  return {};
}

}  // namespace sonde::ingest
