// Imports the device work of an Nsight Systems export: kernels, graphs, copies, memory sets,
// synchronisation, and NCCL's kernels as collectives. Owned by the importer, on its thread.
#pragma once

#include "analysis/ingest/nsight/nsight_context.h"
#include "analysis/ingest/trace_event/nccl_collectives.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <utility>

namespace sonde::ingest {

class NsightDevice {
 public:
  explicit NsightDevice(NsightContext& context) : context_(context) {}

  Result<void> read();
  // Stores the collectives. Requires: ranks are known.
  Result<void> finish();

 private:
  Result<void> readOrdinals();
  Result<void> kernel(const NsightTable& row);
  Result<void> graph(const NsightTable& row);
  Result<void> copy(const NsightTable& row);
  Result<void> set(const NsightTable& row);
  Result<void> sync(const NsightTable& row);

  std::size_t processOf(const NsightTable& row);
  model::StreamId streamOf(const NsightTable& row);
  std::int64_t ordinalOf(std::size_t process, std::int64_t device) const;
  model::DeviceWork workOf(const NsightTable& row, const NsightContext::Span& span);
  template <typename Event>
  Result<void> add(const Event& event, const NsightTable& row) {
    return context_.device.add(event, context_.places.idOf(processOf(row)));
  }

  NsightContext& context_;
  // Ordinals by pid and the process's own device number: each process numbers the devices it sees.
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> ordinals_;
  std::map<std::size_t, NcclCollectives> collectives_;  // by process
};

}  // namespace sonde::ingest
