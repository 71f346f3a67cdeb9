// The hosts, devices and streams of an imported file, apart from the processes that use them.
//
// Rows are stored at the end, when all facts about them are known. Owned by ImportedPlaces, on its
// thread.
#pragma once

#include "analysis/ingest/import/event_fields.h"
#include "analysis/model/place.h"
#include "analysis/store/trace_writer.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace sonde::ingest {

class ImportedDevices {
 public:
  struct Facts {
    std::string kind = "gpu";
    std::string name;
    model::OptionalInt memoryBytes{};
    std::string uuid{};
  };

  // The first host is the file's own, with this name.
  ImportedDevices(store::TraceWriter& writer, std::string hostName);

  // The index of a host. `number` distinguishes hosts with one name.
  std::size_t host(std::string_view name, OptionalNumber number);
  model::HostId idOf(std::size_t host) const noexcept { return hosts_[host].id; }
  model::DeviceId device(std::size_t host, std::int64_t ordinal);
  // Numbers are unique within a context of a process.
  model::StreamId stream(model::ProcessId process,
                         model::DeviceId device,
                         std::int64_t number,
                         std::int64_t context);

  // `host`: its name; empty: any host.
  void describe(std::string host, OptionalNumber number, std::int64_t ordinal, Facts facts) {
    facts_[{std::move(host), number, ordinal}] = std::move(facts);
  }

  // Stores these hosts; others get no row. Requires: an open transaction.
  Result<void> storeHosts(const std::set<std::size_t>& used);
  // Stores devices and streams. Requires: hosts and processes are stored.
  Result<void> finish();

 private:
  struct Host {
    model::HostId id{};
    std::string name;
    OptionalNumber number{};
  };
  using DeviceKey = std::pair<std::size_t, std::int64_t>;  // host, ordinal
  // process, device, number, context
  using StreamKey = std::tuple<model::ProcessId, model::DeviceId, std::int64_t, std::int64_t>;

  const Facts& factsOf(const DeviceKey& device);

  store::TraceWriter& writer_;
  std::vector<Host> hosts_;
  // By name and number of the host, ordinal.
  std::map<std::tuple<std::string, OptionalNumber, std::int64_t>, Facts> facts_;
  std::map<DeviceKey, model::DeviceId> devices_;
  std::map<StreamKey, model::StreamId> streams_;
};

}  // namespace sonde::ingest
