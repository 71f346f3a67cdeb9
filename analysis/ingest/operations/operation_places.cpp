#include "analysis/ingest/operations/operation_places.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::ingest {

std::size_t OperationPlaces::streamOf(std::int64_t dataParallel, std::int64_t tid) {
  const auto [found, fresh] = streamsByKey_.try_emplace(Key{dataParallel, tid}, streams_.size());
  if (fresh) {
    Stream& stream = streams_.emplace_back();
    stream.id = writer_.reserveId<model::ThreadId>();
    stream.dataParallel = dataParallel;
    stream.tid = tid;
  }
  return found->second;
}

void OperationPlaces::cover(std::size_t stream, std::int64_t startNs, std::int64_t endNs) noexcept {
  streams_[stream].firstNs = std::min(streams_[stream].firstNs, startNs);
  streams_[stream].lastNs = std::max(streams_[stream].lastNs, endNs);
}

void OperationPlaces::nameStream(std::int64_t dataParallel,
                                 std::int64_t tid,
                                 std::string_view name) {
  names_[Key{dataParallel, tid}] = name;
}

Result<void> OperationPlaces::store(std::string_view hostName, std::int64_t shiftNs) {
  model::Host host;
  host.name = hostName;
  SONDE_TRY_ASSIGN(const model::HostId hostId, writer_.add(host));
  SONDE_TRY_ASSIGN(const model::StringId dataParallel, writer_.intern("sonde.data_parallel"));
  SONDE_TRY_ASSIGN(const model::StringId stage, writer_.intern("sonde.stage"));
  for (const Worker& worker : workers_) {
    model::Process row;
    row.id = worker.id;
    row.hostId = hostId;
    row.pid = worker.dataParallel;
    row.rank = worker.rank;
    row.worldSize = worldSize_;
    const std::string name =
        fmt::format("data-parallel rank {}, stage {}", worker.dataParallel, worker.stage);
    row.command = name;
    row.startNs = worker.firstNs + shiftNs;
    row.endNs = worker.lastNs + shiftNs;
    SONDE_TRY(writer_.add(row));
    const auto owner = model::Owner::Process;
    SONDE_TRY(writer_.add(model::Arg{owner, worker.id.value, dataParallel, worker.dataParallel}));
    SONDE_TRY(writer_.add(model::Arg{owner, worker.id.value, stage, worker.stage}));
  }
  for (const Stream& stream : streams_) {
    model::Thread row;
    row.id = stream.id;
    row.processId = workers_[stream.worker].id;
    row.tid = stream.tid;
    if (!stream.name.empty())
      row.name = stream.name;
    row.startNs = stream.firstNs + shiftNs;
    row.endNs = stream.lastNs + shiftNs;
    SONDE_TRY(writer_.add(row));
  }
  return {};
}

}  // namespace sonde::ingest
