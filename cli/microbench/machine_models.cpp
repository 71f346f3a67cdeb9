#include "cli/microbench/machine_models.h"

#include "analysis/engine/models/fit_collectives.h"
#include "analysis/engine/models/kernels/fit_kernels.h"
#include "recorder/microbench/measure_loopback.h"
#include "recorder/microbench/measure_processor.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sonde::cli {
namespace {

namespace microbench = recorder::microbench;
namespace models = engine::models;
using microbench::MeasuredMessage;
using microbench::MeasuredTime;
using microbench::MeasuredWork;

constexpr std::chrono::milliseconds kOfProduct{250};
constexpr std::chrono::milliseconds kOfCopy{200};
constexpr std::chrono::milliseconds kOfMessage{150};

// `flops` and `bytes` of a run; 0: not what it measures.
void addRow(Table& table,
            const char* kind,
            const std::string& size,
            const MeasuredTime& time,
            std::pair<double, double> flopsAndBytes) {
  const auto speed = [&](double amount) { return amount > 0 ? Cell(amount / time.ns) : Cell(); };
  table.rows.push_back({Cell(std::string(kind)),
                        Cell(size),
                        Cell(time.runs),
                        Cell(static_cast<std::int64_t>(std::llround(time.ns))),
                        Cell(static_cast<std::int64_t>(std::llround(time.lowNs))),
                        Cell(static_cast<std::int64_t>(std::llround(time.highNs))),
                        speed(flopsAndBytes.first),
                        speed(flopsAndBytes.second)});
}

models::KernelModel fitWorks(const std::vector<MeasuredWork>& measured) {
  std::vector<models::KernelPoint> points;
  points.reserve(measured.size());
  for (const MeasuredWork& each : measured)
    points.push_back({each.work, each.time.ns});
  return fitKernels(points, false);
}

// The model of a ring of two ranks whose steps take as long as messages of half of the buffer.
models::OpModel fitRing(const std::string& op, const std::vector<MeasuredMessage>& measured) {
  constexpr std::int64_t kRanks = 2;
  std::vector<models::CollectivePoint> points;
  points.reserve(measured.size());
  for (const MeasuredMessage& each : measured) {
    const auto cost = models::costOf(op, kRanks * each.bytes, kRanks);
    points.push_back({cost, cost.steps * each.time.ns, 1, kRanks});
  }
  return {op, false, fitCollectives(points)};
}

}  // namespace

Result<MachineModels> measureMachine() {
  MachineModels found;
  found.times.columns = {textColumn("what", "measured"),
                         textColumn("size", "size"),
                         countColumn("runs", "runs"),
                         durationColumn("ns", "time"),
                         durationColumn("low_ns", "first tenth"),
                         durationColumn("high_ns", "last tenth"),
                         realColumn("gflop_per_s", "GFLOP/s"),
                         realColumn("gbyte_per_s", "GB/s")};
  const std::vector<MeasuredWork> products = microbench::measureProducts(kOfProduct);
  const std::vector<MeasuredWork> copies = microbench::measureCopies(kOfCopy);
  SONDE_TRY_ASSIGN(const std::vector<MeasuredMessage> messages,
                   microbench::measureLoopback(kOfMessage));
  for (const MeasuredWork& each : products)
    addRow(found.times, "matrix product", each.what, each.time, {each.work.flops, 0});
  for (const MeasuredWork& each : copies)
    addRow(found.times, "copy", each.what, each.time, {0, each.work.bytes});
  for (const MeasuredMessage& each : messages)
    addRow(found.times,
           "message",
           std::to_string(each.bytes) + " bytes",
           each.time,
           {0, static_cast<double>(each.bytes)});
  found.models.kernels = {fitWorks(products), fitWorks(copies)};
  for (const char* op : {"allreduce", "allgather", "reducescatter", "alltoall"})
    found.models.collectives.push_back(fitRing(op, messages));
  return found;
}

}  // namespace sonde::cli
