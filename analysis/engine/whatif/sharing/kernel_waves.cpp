#include "analysis/engine/whatif/sharing/kernel_waves.h"

#include "analysis/engine/metrics/throughput.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <array>
#include <limits>

namespace sonde::engine::whatif {
namespace {

constexpr std::int64_t kWarp = 32;  // threads
constexpr std::int64_t kKiB = 1024;

// The limits of an architecture, by parts of its devices' names.
struct Architecture {
  std::array<std::string_view, 6> parts;
  DeviceLimits limits;
};
constexpr std::array kArchitectures = {
    Architecture{{"B200", "GB200"}, {0, 2048, 32, 228 * kKiB, kKiB}},
    Architecture{{"H100", "H200", "GH200", "H800", "H20"}, {0, 2048, 32, 228 * kKiB, kKiB}},
    Architecture{{"L40S", "L40", "L4", "RTX 4090"}, {0, 1536, 24, 100 * kKiB, kKiB}},
    Architecture{{"A40", "A10G", "A10", "RTX 3090"}, {0, 1536, 16, 100 * kKiB, kKiB}},
    Architecture{{"A100", "A800", "A30"}, {0, 2048, 32, 164 * kKiB, kKiB}},
    Architecture{{"T4"}, {0, 1024, 16, 64 * kKiB, 0}},
    Architecture{{"V100"}, {0, 2048, 32, 96 * kKiB, 0}}};

bool isPartOf(std::string_view device, std::string_view part) {
  const std::size_t at = part.empty() ? std::string_view::npos : device.find(part);
  if (at == std::string_view::npos)
    return false;
  const std::size_t end = at + part.size();
  return (at == 0 || device[at - 1] == ' ') &&
         (end == device.size() || device[end] == ' ' || device[end] == '-');
}

std::int64_t roundedUp(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

// Registers are given to warps, in 4 parts of 16,384 registers and in steps of 256.
std::int64_t warpsByRegisters(std::int64_t registers) {
  constexpr std::int64_t kParts = 4;
  constexpr std::int64_t kOfPart = 16'384;
  constexpr std::int64_t kStep = 256;
  return registers > 0 ? kParts * (kOfPart / roundedUp(registers * kWarp, kStep))
                       : std::numeric_limits<std::int64_t>::max();
}

struct ShapeOfKernel {
  std::int64_t id = 0;
  std::string name;
  std::int64_t blocks = 0;
  std::int64_t threads = 0;
  std::int64_t registers = 0;
  std::int64_t sharedBytes = 0;

  SONDE_COLUMNS(id, name, blocks, threads, registers, sharedBytes)
};

constexpr const char* kShapesOfKernels =
    "SELECT k.id, coalesce(d.name, '') AS name, k.grid_x * k.grid_y * k.grid_z AS blocks, "
    "k.block_x * k.block_y * k.block_z AS threads, coalesce(k.registers, 0) AS registers, "
    "coalesce(k.static_shared_bytes, 0) + coalesce(k.dynamic_shared_bytes, 0) AS shared_bytes FROM "
    "kernel k JOIN stream s ON s.id = k.stream_id LEFT JOIN device d ON d.id = s.device_id WHERE "
    "k.grid_x > 0 AND k.grid_y > 0 AND k.grid_z > 0 AND k.block_x > 0 AND k.block_y > 0 AND "
    "k.block_z > 0";

}  // namespace

std::optional<DeviceLimits> deviceLimitsOf(std::string_view device) {
  const std::optional<std::int64_t> multiprocessors = metrics::multiprocessorsOf(device);
  for (const Architecture& each : kArchitectures)
    if (multiprocessors && std::any_of(each.parts.begin(), each.parts.end(), [&](auto part) {
          return isPartOf(device, part);
        })) {
      DeviceLimits limits = each.limits;
      limits.multiprocessors = *multiprocessors;
      return limits;
    }
  return std::nullopt;
}

std::int64_t residentBlocks(const DeviceLimits& device, const LaunchShape& shape) {
  const std::int64_t warps = (shape.threads + kWarp - 1) / kWarp;
  std::int64_t blocks = std::min(
      {device.blocks, device.threads / kWarp / warps, warpsByRegisters(shape.registers) / warps});
  constexpr std::int64_t kStep = 128;
  const std::int64_t shared = roundedUp(shape.sharedBytes + device.reservedBytes, kStep);
  if (shared > 0)
    blocks = std::min(blocks, device.sharedBytes / shared);
  return std::max<std::int64_t>(blocks, 1);
}

std::int64_t wavesOf(const DeviceLimits& device, const LaunchShape& shape, std::int64_t times) {
  const std::int64_t atOnce = device.multiprocessors * residentBlocks(device, shape);
  return (shape.blocks * times + atOnce - 1) / atOnce;
}

Result<std::unordered_map<std::int64_t, LaunchShape>> readLaunchShapes(
    const store::Database& trace) {
  std::unordered_map<std::int64_t, LaunchShape> found;
  SONDE_TRY(store::forEach<ShapeOfKernel>(trace, kShapesOfKernels, [&](const ShapeOfKernel& row) {
    found.emplace(row.id,
                  LaunchShape{row.name, row.blocks, row.threads, row.registers, row.sharedBytes});
  }));
  return found;
}

}  // namespace sonde::engine::whatif
