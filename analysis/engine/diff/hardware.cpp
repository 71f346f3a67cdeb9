#include "analysis/engine/diff/hardware.h"

#include "analysis/store/read_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace sonde::engine::diff {
namespace {

struct HostRow {
  std::int64_t id = 0;
  std::string cpuModel;
  std::int64_t cpuCount = 0;

  SONDE_COLUMNS(id, cpuModel, cpuCount)
};

struct GpuRow {
  std::int64_t hostId = 0;
  std::string name;
  std::int64_t memoryBytes = 0;

  SONDE_COLUMNS(hostId, name, memoryBytes)
};

Hardware sorted(Hardware hardware) {
  for (HostModel& host : hardware)
    std::sort(host.gpus.begin(), host.gpus.end());
  std::sort(hardware.begin(), hardware.end());
  hardware.erase(std::unique(hardware.begin(), hardware.end()), hardware.end());
  return hardware;
}

std::string textOf(const GpuModel& gpu, std::size_t count) {
  std::string text = count > 1 ? fmt::format("{} x ", count) : "";
  text += gpu.name.empty() ? "unknown GPU" : gpu.name;
  if (gpu.memoryBytes > 0)
    text += fmt::format(" ({:.1f} GiB)", static_cast<double>(gpu.memoryBytes) / (1 << 30));
  return text;
}

std::string textOf(const HostModel& host) {
  std::vector<std::string> parts = {host.cpu.empty() ? "unknown processor" : host.cpu,
                                    host.cores > 0 ? fmt::format("{} cores", host.cores)
                                                   : std::string("unknown number of cores")};
  std::map<GpuModel, std::size_t> counts;
  for (const GpuModel& gpu : host.gpus)
    ++counts[gpu];
  for (const auto& [gpu, count] : counts)
    parts.push_back(textOf(gpu, count));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

Result<Hardware> readHardware(const store::Database& trace) {
  std::map<std::int64_t, HostModel> hosts;
  SONDE_TRY(store::forEach<HostRow>(
      trace,
      "SELECT id, cpu_model, cpu_count FROM host WHERE id IN (SELECT host_id FROM process)",
      [&](const HostRow& row) {
        hosts[row.id] = {row.cpuModel, row.cpuCount, {}};
      }));
  SONDE_TRY(
      store::forEach<GpuRow>(trace,
                             "SELECT host_id, name, memory_bytes FROM device WHERE kind <> 'cpu'",
                             [&](const GpuRow& row) {
                               if (const auto host = hosts.find(row.hostId); host != hosts.end())
                                 host->second.gpus.push_back({row.name, row.memoryBytes});
                             }));
  Hardware hardware;
  for (auto& [id, host] : hosts)
    hardware.push_back(std::move(host));
  return sorted(std::move(hardware));
}

Hardware joined(const std::vector<Hardware>& all) {
  Hardware hardware;
  for (const Hardware& each : all)
    hardware.insert(hardware.end(), each.begin(), each.end());
  return sorted(std::move(hardware));
}

std::string textOf(const Hardware& hardware) {
  if (hardware.empty())
    return "unknown hardware";
  std::vector<std::string> hosts;
  for (const HostModel& each : hardware)
    hosts.push_back(textOf(each));
  return fmt::format("{}", fmt::join(hosts, " and "));
}

}  // namespace sonde::engine::diff
