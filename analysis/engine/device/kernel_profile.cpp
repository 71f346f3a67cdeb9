#include "analysis/engine/device/kernel_profile.h"

#include "analysis/engine/metrics/throughput.h"
#include "analysis/store/communication_kernels.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <optional>
#include <string>

namespace sonde::engine::device {
namespace {

struct ProfiledKernel {
  std::int64_t nameId = 0;
  std::string name;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;
  std::optional<std::int64_t> gridX;
  std::int64_t gridY = 0;
  std::int64_t gridZ = 0;
  std::int64_t blockX = 0;
  std::int64_t blockY = 0;
  std::int64_t blockZ = 0;
  std::string device;
  std::int64_t multiprocessors = 0;

  SONDE_COLUMNS(nameId,
                name,
                startNs,
                durNs,
                gridX,
                gridY,
                gridZ,
                blockX,
                blockY,
                blockZ,
                device,
                multiprocessors)

  std::int64_t blocks() const noexcept {
    return gridX.value_or(0) * std::max<std::int64_t>(gridY, 1) * std::max<std::int64_t>(gridZ, 1);
  }
  // Its share of the device, from 0 to 1.
  double used() const noexcept {
    const std::int64_t most =
        multiprocessors > 0 ? multiprocessors : metrics::multiprocessorsOf(device).value_or(0);
    if (blocks() <= 0 || most <= 0)
      return 1;
    return std::min(1.0, static_cast<double>(blocks()) / static_cast<double>(most));
  }
};

constexpr std::string_view kProfiledKernels =
    "SELECT k.name_id, n.text AS name, k.start_ns, k.dur_ns, k.grid_x, k.grid_y, k.grid_z,"
    " k.block_x, k.block_y, k.block_z, d.name AS device, d.multiprocessors FROM stream s JOIN "
    "kernel k ON"
    " k.stream_id = s.id JOIN string n ON n.id = k.name_id LEFT JOIN device d ON d.id ="
    " s.device_id WHERE s.process_id = ?1 AND k.start_ns >= ?2 AND k.start_ns < ?3";

}  // namespace

Result<KernelProfile> kernelProfile(const store::Database& trace,
                                    const metrics::RankProcess& rank) {
  KernelProfile profile;
  if (rank.iterations.empty())
    return profile;
  const metrics::Intervals counted = metrics::countedOf(rank);
  SONDE_TRY_ASSIGN(const auto communication, store::CommunicationKernels::read(trace));
  SONDE_TRY_ASSIGN(store::Statement rows, trace.prepare(kProfiledKernels));
  rows.bind(1, rank.processId);
  rows.bind(2, rank.window.begin);
  rows.bind(3, rank.window.end);
  double usedNs = 0;
  SONDE_TRY(store::forEach<ProfiledKernel>(rows, [&](const ProfiledKernel& kernel) {
    if (!metrics::holds(counted, kernel.startNs))
      return;
    ++profile.kernels;
    profile.shaped += kernel.gridX ? 1 : 0;
    profile.communicating += communication.holds(kernel.name) ? 1 : 0;
    usedNs += kernel.used() * static_cast<double>(std::max<std::int64_t>(kernel.durNs, 0));
    profile.perIteration[{kernel.nameId,
                          {kernel.gridX.value_or(0),
                           kernel.gridY,
                           kernel.gridZ,
                           kernel.blockX,
                           kernel.blockY,
                           kernel.blockZ}}] += 1;
  }));
  for (auto& [shape, count] : profile.perIteration)
    count /= static_cast<double>(rank.iterations.size());
  if (const std::int64_t ns = metrics::totalLength(counted); ns > 0)
    profile.used = usedNs / static_cast<double>(ns);
  return profile;
}

double similarityOf(const KernelProfile& a, const KernelProfile& b) {
  double common = 0;
  double either = 0;
  for (const auto& [shape, count] : a.perIteration) {
    const auto other = b.perIteration.find(shape);
    const double theirs = other == b.perIteration.end() ? 0 : other->second;
    common += std::min(count, theirs);
    either += std::max(count, theirs);
  }
  for (const auto& [shape, count] : b.perIteration)
    if (!a.perIteration.contains(shape))
      either += count;
  return either > 0 ? common / either : 0;
}

}  // namespace sonde::engine::device
