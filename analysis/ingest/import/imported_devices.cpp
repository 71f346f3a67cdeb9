#include "analysis/ingest/import/imported_devices.h"

#include <algorithm>

namespace sonde::ingest {

ImportedDevices::ImportedDevices(store::TraceWriter& writer, std::string hostName)
    : writer_(writer) {
  hosts_.push_back({writer_.reserveId<model::HostId>(), std::move(hostName), {}});
}

std::size_t ImportedDevices::host(std::string_view name, OptionalNumber number) {
  const auto known = std::find_if(hosts_.begin(), hosts_.end(), [&](const Host& host) {
    return host.name == name && host.number == number;
  });
  const auto index = static_cast<std::size_t>(known - hosts_.begin());
  if (known == hosts_.end())
    hosts_.push_back({writer_.reserveId<model::HostId>(), std::string(name), number});
  return index;
}

model::DeviceId ImportedDevices::device(std::size_t host, std::int64_t ordinal) {
  const auto [found, fresh] = devices_.try_emplace({host, ordinal});
  if (fresh)
    found->second = writer_.reserveId<model::DeviceId>();
  return found->second;
}

model::StreamId ImportedDevices::stream(model::ProcessId process,
                                        model::DeviceId device,
                                        std::int64_t number,
                                        std::int64_t context) {
  const auto [found, fresh] = streams_.try_emplace({process, device, number, context});
  if (fresh)
    found->second = writer_.reserveId<model::StreamId>();
  return found->second;
}

Result<void> ImportedDevices::storeHosts(const std::set<std::size_t>& used) {
  for (const std::size_t host : used) {
    model::Host row;
    row.id = hosts_[host].id;
    row.name = hosts_[host].name;
    SONDE_TRY(writer_.add(row));
  }
  return {};
}

const ImportedDevices::Facts& ImportedDevices::factsOf(const DeviceKey& device) {
  const auto& [host, ordinal] = device;
  const auto own = facts_.find({hosts_[host].name, hosts_[host].number, ordinal});
  return own != facts_.end() ? own->second : facts_[{"", {}, ordinal}];
}

Result<void> ImportedDevices::finish() {
  for (const auto& [key, id] : devices_) {
    const Facts& facts = factsOf(key);
    model::Device row;
    row.id = id;
    row.hostId = hosts_[key.first].id;
    row.kind = facts.kind;
    row.ordinal = key.second;
    if (!facts.name.empty())
      row.name = facts.name;
    row.memoryBytes = facts.memoryBytes;
    if (!facts.uuid.empty())
      row.uuid = facts.uuid;
    SONDE_TRY(writer_.add(row));
  }
  for (const auto& [key, id] : streams_) {
    model::Stream row;
    row.id = id;
    std::tie(row.processId, row.deviceId, row.number, std::ignore) = key;
    SONDE_TRY(writer_.add(row));
  }
  return {};
}

}  // namespace sonde::ingest
