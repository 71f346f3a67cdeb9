// The kernels, copies and synchronisation of an imported trace, joined to the API calls that
// launched them.
//
// Staged by correlation, so that memory does not grow with the trace. Owned by one importer, on one
// thread.
#pragma once

#include "analysis/base/result.h"
#include "analysis/ingest/host_slices.h"
#include "analysis/ingest/input/external_sorter.h"
#include "analysis/model/device_work.h"
#include "analysis/store/trace_writer.h"

#include <cstdint>
#include <filesystem>
#include <variant>

namespace sonde::ingest {

class DeviceEvents {
 public:
  using Event = std::variant<model::Kernel, model::Copy, model::Sync>;

  // Intermediate data goes to files in `folder`.
  explicit DeviceEvents(const std::filesystem::path& folder);

  // Ids are given by the caller; launch and scope are not read.
  Result<void> add(const Event& event, model::ProcessId process);

  // Stores everything, `shiftNs` later. A launch is looked up by (process, correlation); of several
  // API calls with the same one the first is taken. Requires: a transaction is open, and
  // `slices.finish()`, whose launches this takes.
  Result<void> finish(store::TraceWriter& writer, HostSlices& slices, std::int64_t shiftNs);

 private:
  struct Staged {
    std::int64_t process;
    std::int64_t correlation;  // kNone: no launch can be found
    std::int64_t order;
    Event event;
  };
  struct ByCorrelation {
    bool operator()(const Staged& a, const Staged& b) const noexcept;
  };

  ExternalSorter<Staged, ByCorrelation> staged_;
  std::int64_t count_ = 0;
};

}  // namespace sonde::ingest
