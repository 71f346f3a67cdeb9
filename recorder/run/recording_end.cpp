// The end of a recording: the rest is stored, and the trace gets its name.
#include "analysis/store/trace_name.h"
#include "recorder/drain/capture_note.h"
#include "recorder/run/recording.h"
#include "recorder/spool/host_clock.h"
#include "recorder/spool/spool_place.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <ctime>
#include <string>

namespace sonde::recorder {

namespace {

std::uint64_t largestResidentBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace

Result<RecordingSummary> Recording::finish(bool restRunning,
                                           const std::function<CostsFound()>& costs) {
  if (restRunning)
    share_.jobEnds();
  stopWorker();
  if (sampler_) {
    sampler_->stop();
    drainer_->notes().setMeta("sampler_cpu_ns", std::to_string(sampler_->cpuTime().count()));
  }
  const std::int64_t endedNs = nowNs(CLOCK_MONOTONIC);
  if (const auto ppm = share_.ppm())
    drainer_->notes().setMeta("recorder_beside_ppm", std::to_string(*ppm));
  if (restRunning) {
    stopJobRecording("the job has ended");
    drainer_->noteWarning("processes of the job still run: they are no longer recorded");
  }
  drain(true);
  capture_.reset();
  noteRefused();
  control_.noteOutcome();
  if (flight_)
    flight_->finish();
  noteCapture(*drainer_, page_);
  drainer_->notes().setMeta("sources", options_.sources);
  drainer_->notes().setMeta("build", options_.build);
  if (costs)
    noteCosts(costs());
  drainer_->notes().setMeta("recorder_bytes", std::to_string(drainer_->totals().bytes));
  RecordingSummary summary;
  const auto cost = [&summary] {
    summary.recorderCpuNs = static_cast<std::uint64_t>(nowNs(CLOCK_PROCESS_CPUTIME_ID));
    summary.recorderBytes = largestResidentBytes();
    return MetaRows{{"recorder_cpu_ns", std::to_string(summary.recorderCpuNs)},
                    {"recorder_rss_bytes", std::to_string(summary.recorderBytes)}};
  };
  for (const auto& [key, value] : cost())  // in case the rest is left to sonde recover
    drainer_->notes().setMeta(key, value);
  SONDE_TRY_ASSIGN(summary.totals, drainer_->finish(options_.output, cost));
  removeFolder();
  summary.output = options_.output;
  if (full_)
    summary.unrecordedSeconds = static_cast<double>(endedNs - fullNs_) / 1e9;
  summary.seconds = static_cast<double>(nowNs(CLOCK_MONOTONIC) - beganNs_) / 1e9;
  return summary;
}

void Recording::noteCosts(const CostsFound& found) {
  drainer_->notes().addCosts(found.costs);
  if (!found.costs.empty())
    drainer_->notes().setMeta(
        "costs_measured",
        fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                    fmt::gmtime(std::chrono::system_clock::to_time_t(found.measured))));
  if (!found.whyNoCuda.empty())
    drainer_->noteWarning(
        fmt::format("the cost of recording CUDA calls was not measured: {}", found.whyNoCuda));
}

void Recording::noteRefused() {
  const auto note = [this](std::uint32_t images, const char* reason, const std::string& why) {
    if (images == 0)
      return;
    drainer_->notes().addLoss("process", "image", reason, images);
    drainer_->noteWarning(
        fmt::format("{} in the trace, because {}",
                    images == 1 ? "1 process is not" : fmt::format("{} processes are not", images),
                    why));
  };
  const std::uint32_t refused = page_.refusedImages();
  note(refused,
       "spool full",
       fmt::format("the spool had no room for {}: raise --spool-limit",
                   refused == 1 ? "it" : "them"));
  note(page_.unreachableImages(),
       "spool not reachable",
       "another user, or another root, has no access to the spool");
}

void Recording::discard() {
  drainer_.reset();
  store::removeTrace(store::partOf(options_.output));
  removeFolder();
}

void Recording::removeFolder() {
  flight_.reset();
  drainer_.reset();
  removeSessionFolder(options_.folder);
}

}  // namespace sonde::recorder
