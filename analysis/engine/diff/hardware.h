// The hardware that a run used: two runs can be compared only if it is the same. Plain values;
// reading uses the database's thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace sonde::engine::diff {

struct GpuModel {
  std::string name;              // empty: unknown
  std::int64_t memoryBytes = 0;  // 0: unknown

  auto operator<=>(const GpuModel&) const = default;
};

struct HostModel {
  std::string cpu;         // empty: unknown
  std::int64_t cores = 0;  // 0: unknown
  std::vector<GpuModel> gpus;

  auto operator<=>(const HostModel&) const = default;
};

// Kinds of hosts, sorted and each once: the number of equal hosts does not matter. Nor does the
// order of the GPUs of a host.
using Hardware = std::vector<HostModel>;

// Hosts with a process, and their GPUs.
Result<Hardware> readHardware(const store::Database& trace);

// The hosts of several traces.
Hardware joined(const std::vector<Hardware>& all);

// "Xeon 8480, 16 cores, 8 x H200 (139.8 GiB)"; several kinds of hosts are joined by " and ".
std::string textOf(const Hardware& hardware);

}  // namespace sonde::engine::diff
