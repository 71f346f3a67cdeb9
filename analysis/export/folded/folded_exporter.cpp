#include "analysis/export/folded/folded_exporter.h"

#include "analysis/export/path_tree.h"
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
    PathTree::Frame frame;
    PathTree::Path path;  // path of itself, from the spans open when it began
    bool isWhole;         // all spans of the path are still open
    std::int64_t endNs;
    std::int64_t firstEndNs;  // of it and of all that began before it
  };

  void advance(std::int64_t ns);
  void dropEnded(std::int64_t ns);
  PathTree::Path pathOf(PathTree::Frame frame);
  PathTree::Path rootOf(const TimelineTrack& track);
  std::int64_t firstEndWith(std::int64_t endNs) const {
    return open_.empty() ? endNs : std::min(endNs, open_.back().firstEndNs);
  }

  std::map<std::int64_t, std::string> processes_;  // frames, by shown pid
  PathTree paths_;
  PathTree::Path root_ = PathTree::kRoot;  // of the thread; kRoot: no thread
  std::vector<Open> open_;                 // in the order of their begins
  std::vector<PathTree::Frame> frames_;    // pathOf()'s
  std::int64_t nowNs_ = 0;
};

Result<void> FoldedWriter::process(const TimelineProcess& process) {
  processes_[process.shownPid] = process.rank
                                     ? fmt::format("rank {}", *process.rank)
                                     : fmt::format("{} {}", frameText(process.name), process.pid);
  return {};
}

PathTree::Path FoldedWriter::rootOf(const TimelineTrack& track) {
  const PathTree::Frame thread =
      paths_.frameOf(fmt::format("{};{} {}",
                                 processes_[track.shownPid],
                                 track.name.empty() ? "thread" : frameText(track.name),
                                 track.tid.value_or(0)));
  return paths_.pathOf(PathTree::kRoot, {&thread, 1});
}

Result<void> FoldedWriter::track(const TimelineTrack& track) {
  advance(std::numeric_limits<std::int64_t>::max());
  root_ = PathTree::kRoot;
  if (track.kind == TimelineTrack::Kind::Thread)
    root_ = rootOf(track);
  return {};
}

// Gives the time until `ns` to the open span that began last, so that each instant counts once even
// if spans overlap.
void FoldedWriter::advance(std::int64_t ns) {
  while (!open_.empty()) {
    const Open& last = open_.back();
    const std::int64_t untilNs = std::min(ns, last.endNs);
    if (untilNs > nowNs_) {
      paths_.add(last.path, untilNs - nowNs_);
      nowNs_ = untilNs;
    }
    if (last.endNs > ns)
      break;
    open_.pop_back();
  }
  dropEnded(ns);
}

// Removes spans that ended below an open span: no new span can be their child.
void FoldedWriter::dropEnded(std::int64_t ns) {
  if (open_.empty() || open_.back().firstEndNs > ns)
    return;
  std::vector<Open> before = std::move(open_);
  open_.clear();
  bool isWhole = true;
  for (Open& span : before) {
    isWhole = isWhole && span.endNs > ns;
    if (span.endNs <= ns)
      continue;
    span.isWhole = span.isWhole && isWhole;
    span.firstEndNs = firstEndWith(span.endNs);
    open_.push_back(span);
  }
}

// The path of a span that begins now. Open spans that are no longer whole do not get paths of their
// own: most of them never get time.
PathTree::Path FoldedWriter::pathOf(PathTree::Frame frame) {
  std::size_t whole = open_.size();
  while (whole > 0 && !open_[whole - 1].isWhole)
    --whole;
  frames_.clear();
  for (std::size_t at = whole; at < open_.size(); ++at)
    frames_.push_back(open_[at].frame);
  frames_.push_back(frame);
  return paths_.pathOf(whole == 0 ? root_ : open_[whole - 1].path, frames_);
}

// Ignores spans without a known end.
Result<void> FoldedWriter::span(const TimelineSpan& span) {
  if (root_ == PathTree::kRoot || !span.durNs)
    return {};
  advance(span.startNs);
  nowNs_ = span.startNs;
  const PathTree::Frame frame = paths_.frameOf(frameText(span.name));
  const std::int64_t endNs = span.startNs + *span.durNs;
  open_.push_back({frame, pathOf(frame), true, endNs, firstEndWith(endNs)});
  return {};
}

Result<void> FoldedWriter::write(OutputFile& output) {
  advance(std::numeric_limits<std::int64_t>::max());
  return paths_.write(output);
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
