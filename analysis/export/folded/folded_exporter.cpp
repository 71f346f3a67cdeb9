#include "analysis/export/folded/folded_exporter.h"

#include "analysis/export/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sonde::exports {
namespace {

// A name as one frame: what separates frames or lines would make two of it.
std::string frameOf(std::string_view name) {
  std::string frame(name);
  std::replace(frame.begin(), frame.end(), ';', ':');
  std::replace(frame.begin(), frame.end(), '\n', ' ');
  std::replace(frame.begin(), frame.end(), '\r', ' ');
  return frame;
}

class FoldedWriter : public TimelineVisitor {
 public:
  Result<void> process(const TimelineProcess& process) override;
  Result<void> track(const TimelineTrack& track) override;
  Result<void> span(const TimelineSpan& span) override;
  Result<void> counter(const TimelineCounter& /*counter*/) override { return {}; }
  Result<void> sample(std::int64_t /*ns*/,
                      double /*value*/,
                      model::OptionalInt /*iteration*/) override {
    return {};
  }
  Result<void> write(OutputFile& output);

 private:
  struct Open {
    std::string path;
    std::int64_t depth = 0;
    std::int64_t endNs = 0;
    std::int64_t selfNs = 0;
  };

  void closeInnermost(std::vector<Open>& lane);
  void closeAll();

  std::map<std::int64_t, std::string> processes_;  // frames, by shown pid
  std::string root_;                               // of the thread; empty: of no thread
  std::vector<std::vector<Open>> lanes_;
  std::map<std::string, std::int64_t> selfNs_;  // by path
};

Result<void> FoldedWriter::process(const TimelineProcess& process) {
  processes_[process.shownPid] = process.rank
                                     ? fmt::format("rank {}", *process.rank)
                                     : fmt::format("{} {}", frameOf(process.name), process.pid);
  return {};
}

Result<void> FoldedWriter::track(const TimelineTrack& track) {
  closeAll();
  root_.clear();
  if (track.kind == TimelineTrack::Kind::Thread)
    root_ = fmt::format("{};{} {}",
                        processes_[track.shownPid],
                        track.name.empty() ? "thread" : frameOf(track.name),
                        track.tid.value_or(0));
  return {};
}

void FoldedWriter::closeInnermost(std::vector<Open>& lane) {
  Open& ended = lane.back();
  if (ended.selfNs > 0)
    selfNs_[std::move(ended.path)] += ended.selfNs;
  lane.pop_back();
}

void FoldedWriter::closeAll() {
  for (auto& lane : lanes_)
    while (!lane.empty())
      closeInnermost(lane);
  lanes_.clear();
}

// What has no known end has no length to show.
Result<void> FoldedWriter::span(const TimelineSpan& span) {
  if (root_.empty() || !span.durNs)
    return {};
  if (static_cast<std::int64_t>(lanes_.size()) <= span.lane)
    lanes_.resize(static_cast<std::size_t>(span.lane) + 1);
  auto& lane = lanes_[static_cast<std::size_t>(span.lane)];
  while (!lane.empty() && (lane.back().depth >= span.depth || lane.back().endNs <= span.startNs))
    closeInnermost(lane);
  if (!lane.empty())
    lane.back().selfNs -= *span.durNs;
  const std::string& parent = lane.empty() ? root_ : lane.back().path;
  lane.push_back({fmt::format("{};{}", parent, frameOf(span.name)),
                  span.depth,
                  span.startNs + *span.durNs,
                  *span.durNs});
  return {};
}

Result<void> FoldedWriter::write(OutputFile& output) {
  closeAll();
  for (const auto& [path, selfNs] : selfNs_)
    SONDE_TRY(output.write(fmt::format("{} {}\n", path, selfNs)));
  return {};
}

}  // namespace

Result<void> exportFolded(const store::Database& trace,
                          OutputFile& output,
                          const Progress& progress) {
  FoldedWriter writer;
  SONDE_TRY(visitTimeline(trace, writer, progress));
  return writer.write(output);
}

}  // namespace sonde::exports
