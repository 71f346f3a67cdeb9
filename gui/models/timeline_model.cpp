#include "gui/models/timeline_model.h"

#include "gui/trace/trace_reader.h"

#include <algorithm>
#include <utility>

namespace sonde::gui {
namespace {

using Slot = TraceDocument::Slot;

constexpr double kResolutionSlack =
    1.5;  // largest change of the pixels' length before blocks are read again

}  // namespace

TimelineModel::TimelineModel(TraceDocument& document, TimeBasis& times)
    : document_(document), times_(times) {
  connect(&document_, &TraceDocument::replaced, this, &TimelineModel::takeTrace);
}

void TimelineModel::takeTrace() {
  TrackArrangement kept = arrangement();
  if (document_.paths() != arrangedTrace_ && !document_.isContinued())
    kept.forgetTrace();
  arrangedTrace_ = document_.paths();
  if (document_.isContinued())
    layout_.extend(document_.skeleton(), std::move(kept));
  else
    layout_.reset(document_.skeleton(), std::move(kept));
  blocks_.clear();
  curves_.clear();
  costs_.clear();
  names_.clear();
  asked_ = {};
  overview_.clear();
}

void TimelineModel::arrange(TrackArrangement arrangement) {
  if (arrangement == layout_.arrangement())
    return;
  layout_.arrange(document_.skeleton(), std::move(arrangement));
  emit layoutChanged();
}

void TimelineModel::toggle(const LayoutEntry& entry) {
  layout_.toggle(document_.skeleton(), LayoutEntry(entry));
  emit layoutChanged();
}

void TimelineModel::showRank(std::optional<std::int64_t> rank) {
  layout_.showRank(document_.skeleton(), rank);
  emit layoutChanged();
}

void TimelineModel::showEmptyThreads(bool show) {
  layout_.showEmpty(document_.skeleton(), show);
  emit layoutChanged();
}

void TimelineModel::reveal(int track) {
  layout_.reveal(document_.skeleton(), track);
  emit layoutChanged();
}

bool TimelineModel::covers(const Viewport& viewport, const std::vector<int>& tracks) const {
  const double pixels = viewport.nsPerPixel();
  return asked_.correction == times_.correction() && asked_.beginNs <= viewport.beginNs() &&
         asked_.endNs >= viewport.endNs() && pixels * kResolutionSlack > asked_.nsPerPixel &&
         pixels < asked_.nsPerPixel * kResolutionSlack &&
         std::all_of(tracks.begin(), tracks.end(), [&](int track) {
           return std::binary_search(asked_.tracks.begin(), asked_.tracks.end(), track);
         });
}

void TimelineModel::show(const Viewport& viewport, const std::vector<int>& tracks) {
  if (!document_.ready() || tracks.empty() || covers(viewport, tracks))
    return;
  // Half a window more on each side, so that blocks are ready when the user pans.
  asked_ = {viewport.beginNs() - viewport.spanNs() / 2,
            viewport.endNs() + viewport.spanNs() / 2,
            viewport.nsPerPixel(),
            tracks,
            times_.correction()};
  std::sort(asked_.tracks.begin(), asked_.tracks.end());
  document_.ask(
      Slot::Window,
      [request = asked_](TraceReader& reader, const Cancellation& cancellation) {
        return reader.window(request, cancellation);
      },
      [this](WindowReply reply) { accept(std::move(reply)); });
}

void TimelineModel::accept(WindowReply reply) {
  const std::vector<TrackInfo>& tracks = document_.skeleton().tracks;
  for (TrackBlocks& track : reply.tracks)
    if (tracks.at(static_cast<std::size_t>(track.track)).counter) {
      curves_[track.track] = std::move(track.curve);
    } else {
      blocks_[track.track] = std::move(track.blocks);
      costs_[track.track] = std::move(track.costs);
    }
  // Drops blocks far off screen: memory depends on the window, not on the way to it.
  const auto isFar = [&](auto entry) {
    return !std::binary_search(
        reply.request.tracks.begin(), reply.request.tracks.end(), entry.key());
  };
  if (static_cast<std::size_t>(blocks_.size() + curves_.size()) >
      4 * reply.request.tracks.size() + 64) {
    blocks_.removeIf([&](QHash<int, std::vector<Block>>::iterator entry) { return isFar(entry); });
    costs_.removeIf([&](QHash<int, std::vector<engine::correction::CostSpan>>::iterator entry) {
      return isFar(entry);
    });
    curves_.removeIf([&](QHash<int, Curve>::iterator entry) { return isFar(entry); });
  }
  names_.insert(reply.names);
  emit blocksChanged();
}

const std::vector<Block>* TimelineModel::blocks(int track) const {
  const auto found = blocks_.constFind(track);
  return found == blocks_.constEnd() ? nullptr : &*found;
}

const Curve* TimelineModel::curve(int track) const {
  const auto found = curves_.constFind(track);
  return found == curves_.constEnd() ? nullptr : &*found;
}

const std::vector<engine::correction::CostSpan>* TimelineModel::costs(int track) const {
  const auto found = costs_.constFind(track);
  return found == costs_.constEnd() ? nullptr : &*found;
}

const Block* TimelineModel::hit(int track, int row, std::int64_t fromNs, std::int64_t toNs) const {
  const std::vector<Block>* blocks = this->blocks(track);
  if (blocks == nullptr)
    return nullptr;
  const auto before = [](const Block& block, const std::pair<int, std::int64_t>& key) {
    return std::pair<int, std::int64_t>(block.row, block.startNs) < key;
  };
  auto at = std::lower_bound(
      blocks->begin(), blocks->end(), std::pair<int, std::int64_t>(row, toNs + 1), before);
  const Block* best = nullptr;
  // Blocks of a row do not overlap, so only the last few before the time can reach it.
  for (int looks = 0; at != blocks->begin() && looks < 16; ++looks) {
    --at;
    if (at->row != row)
      break;
    const std::int64_t end = endOf(*at, document_.skeleton().endNs);
    if (end >= fromNs && (best == nullptr || end - at->startNs < best->durNs))
      best = &*at;
    if (end < fromNs)
      break;
  }
  return best;
}

void TimelineModel::askOverview(int bins) {
  if (!document_.ready())
    return;
  document_.ask(
      Slot::Overview,
      [bins](TraceReader& reader, const Cancellation& cancellation) {
        return reader.overview(bins, cancellation);
      },
      [this](std::vector<OverviewRow> rows) {
        overview_ = std::move(rows);
        emit overviewChanged();
      },
      TraceDocument::OnError::Ignore);
}

void TimelineModel::askScope(const EventRef& event) {
  document_.ask(
      Slot::Scope,
      [event](TraceReader& reader, const Cancellation&) { return reader.scopeOf(event); },
      [this, event](const QString& scope) { emit scopeRead(event, scope); },
      TraceDocument::OnError::Ignore);
}

}  // namespace sonde::gui
