#include "analysis/export/folded/folded_exporter.h"

#include "analysis/export/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
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
    std::int64_t endNs = 0;
    std::int64_t selfNs = 0;
  };

  void advance(std::int64_t ns);

  std::map<std::int64_t, std::string> processes_;  // frames, by shown pid
  std::string root_;                               // of the thread; empty: of no thread
  std::vector<Open> open_;                         // in the order in which they began
  std::int64_t nowNs_ = 0;
  std::map<std::string, std::int64_t> selfNs_;  // by path
};

Result<void> FoldedWriter::process(const TimelineProcess& process) {
  processes_[process.shownPid] = process.rank
                                     ? fmt::format("rank {}", *process.rank)
                                     : fmt::format("{} {}", frameOf(process.name), process.pid);
  return {};
}

Result<void> FoldedWriter::track(const TimelineTrack& track) {
  advance(std::numeric_limits<std::int64_t>::max());
  root_.clear();
  if (track.kind == TimelineTrack::Kind::Thread)
    root_ = fmt::format("{};{} {}",
                        processes_[track.shownPid],
                        track.name.empty() ? "thread" : frameOf(track.name),
                        track.tid.value_or(0));
  return {};
}

// Gives the time until then to the span that began last of those that are open, and so each instant
// to one, however they overlap.
void FoldedWriter::advance(std::int64_t ns) {
  while (!open_.empty()) {
    Open& innermost = open_.back();
    const std::int64_t untilNs = std::min(ns, innermost.endNs);
    if (untilNs > nowNs_) {
      innermost.selfNs += untilNs - nowNs_;
      nowNs_ = untilNs;
    }
    if (innermost.endNs > ns)
      return;
    if (innermost.selfNs > 0)
      selfNs_[std::move(innermost.path)] += innermost.selfNs;
    open_.pop_back();
  }
}

// What has no known end has no length to show.
Result<void> FoldedWriter::span(const TimelineSpan& span) {
  if (root_.empty() || !span.durNs)
    return {};
  advance(span.startNs);
  nowNs_ = span.startNs;
  const std::string& parent = open_.empty() ? root_ : open_.back().path;
  open_.push_back({fmt::format("{};{}", parent, frameOf(span.name)), span.startNs + *span.durNs});
  return {};
}

Result<void> FoldedWriter::write(OutputFile& output) {
  advance(std::numeric_limits<std::int64_t>::max());
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
