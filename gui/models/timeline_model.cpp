#include "gui/models/timeline_model.h"

#include "gui/trace/trace_reader.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace sonde::gui {
namespace {

using Slot = QueryWorker::Slot;

constexpr double kResolutionSlack =
    1.5;  // largest change of the pixels' length before blocks are read again

// The message to show once. Cancelled queries are never delivered.
QString messageOf(const Error& error) {
  return QString::fromStdString(error.message);
}

}  // namespace

TimelineModel::TimelineModel(QObject* parent) : QObject(parent) {
  connect(&worker_, &QueryWorker::becameIdle, this, &TimelineModel::settledDown);
}

void TimelineModel::forget() {
  skeleton_ = {};
  layout_.reset(skeleton_);
  blocks_.clear();
  names_.clear();
  asked_ = {};
  overview_.clear();
  selectedRef_.reset();
  details_.reset();
  searched_.clear();
  span_.clear();
}

void TimelineModel::open(const QStringList& paths) {
  worker_.cancelAll();
  forget();
  paths_ = paths;
  state_ = State::Loading;
  worker_.post(Slot::Open,
               [this, paths](TraceReader& reader, const Cancellation&) -> QueryWorker::Reply {
                 auto skeleton = reader.open(paths);
                 if (!skeleton)
                   return [this, message = messageOf(skeleton.error())] {
                     state_ = State::Failed;
                     error_ = message;
                     emit failed(message);
                   };
                 return [this, read = *std::move(skeleton)]() mutable {
                   skeleton_ = std::move(read);
                   layout_.reset(skeleton_);
                   state_ = State::Ready;
                   emit opened();
                   emit layoutChanged();
                 };
               });
  emit layoutChanged();
}

void TimelineModel::toggle(const LayoutEntry& entry) {
  layout_.toggle(skeleton_, LayoutEntry(entry));
  emit layoutChanged();
}

void TimelineModel::foldAll(bool fold) {
  layout_.foldAll(skeleton_, fold);
  emit layoutChanged();
}

void TimelineModel::showEmptyThreads(bool show) {
  layout_.showEmpty(skeleton_, show);
  emit layoutChanged();
}

void TimelineModel::reveal(int track) {
  layout_.reveal(skeleton_, track);
  emit layoutChanged();
}

bool TimelineModel::covers(const Viewport& viewport, const std::vector<int>& tracks) const {
  const double pixels = viewport.nsPerPixel();
  return asked_.beginNs <= viewport.beginNs() && asked_.endNs >= viewport.endNs() &&
         pixels * kResolutionSlack > asked_.nsPerPixel &&
         pixels < asked_.nsPerPixel * kResolutionSlack &&
         std::all_of(tracks.begin(), tracks.end(), [&](int track) {
           return std::binary_search(asked_.tracks.begin(), asked_.tracks.end(), track);
         });
}

void TimelineModel::show(const Viewport& viewport, const std::vector<int>& tracks) {
  if (state_ != State::Ready || tracks.empty() || covers(viewport, tracks))
    return;
  // Half a window more on each side, so that blocks are ready when the user pans.
  asked_ = {viewport.beginNs() - viewport.spanNs() / 2,
            viewport.endNs() + viewport.spanNs() / 2,
            viewport.nsPerPixel(),
            tracks};
  std::sort(asked_.tracks.begin(), asked_.tracks.end());
  worker_.post(Slot::Window,
               [this, request = asked_](TraceReader& reader,
                                        const Cancellation& cancellation) -> QueryWorker::Reply {
                 auto reply = reader.window(request, cancellation);
                 if (cancellation.requested())
                   return {};
                 if (!reply)
                   return [this, message = messageOf(reply.error())] { emit failed(message); };
                 return [this, read = *std::move(reply)]() mutable { accept(std::move(read)); };
               });
}

void TimelineModel::accept(WindowReply reply) {
  for (TrackBlocks& track : reply.tracks)
    blocks_[track.track] = std::move(track.blocks);
  // Drops blocks far off screen: memory depends on the window, not on the way to it.
  if (static_cast<std::size_t>(blocks_.size()) > 4 * reply.request.tracks.size() + 64)
    blocks_.removeIf([&](QHash<int, std::vector<Block>>::iterator entry) {
      return !std::binary_search(
          reply.request.tracks.begin(), reply.request.tracks.end(), entry.key());
    });
  names_.insert(reply.names);
  emit blocksChanged();
}

const std::vector<Block>* TimelineModel::blocks(int track) const {
  const auto found = blocks_.constFind(track);
  return found == blocks_.constEnd() ? nullptr : &*found;
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
    const std::int64_t end = endOf(*at, skeleton_.endNs);
    if (end >= fromNs && (best == nullptr || end - at->startNs < best->durNs))
      best = &*at;
    if (end < fromNs)
      break;
  }
  return best;
}

void TimelineModel::askOverview(int bins) {
  if (state_ != State::Ready)
    return;
  worker_.post(
      Slot::Overview,
      [this, bins](TraceReader& reader, const Cancellation& cancellation) -> QueryWorker::Reply {
        auto rows = reader.overview(bins, cancellation);
        if (!rows)
          return {};
        return [this, read = *std::move(rows)]() mutable {
          overview_ = std::move(read);
          emit overviewChanged();
        };
      });
}

void TimelineModel::select(const EventRef& event) {
  if (selectedRef_ == event)
    return;
  selectedRef_ = event;
  details_.reset();
  emit selectionChanged();
  readDetails(event, false);
}

void TimelineModel::moveTo(const EventRef& event) {
  selectedRef_ = event;
  details_.reset();
  emit selectionChanged();
  readDetails(event, true);
}

void TimelineModel::readDetails(const EventRef& event, bool moved) {
  worker_.post(
      Slot::Details,
      [this, event, moved](TraceReader& reader, const Cancellation&) -> QueryWorker::Reply {
        auto details = reader.details(event);
        if (!details)
          return [this, message = messageOf(details.error())] { emit failed(message); };
        return [this, moved, read = *std::move(details)]() mutable {
          names_.insert(read.event.block.nameId, read.event.name);
          details_ = std::move(read);
          emit detailsChanged(moved);
        };
      });
}

void TimelineModel::askScope(const EventRef& event) {
  worker_.post(Slot::Scope,
               [this, event](TraceReader& reader, const Cancellation&) -> QueryWorker::Reply {
                 auto scope = reader.scopeOf(event);
                 if (!scope)
                   return {};
                 return [this, event, text = *std::move(scope)] { emit scopeRead(event, text); };
               });
}

void TimelineModel::clearSelection() {
  worker_.cancel(Slot::Details);
  worker_.cancel(Slot::Step);
  if (!selectedRef_)
    return;
  selectedRef_.reset();
  details_.reset();
  emit selectionChanged();
}

void TimelineModel::step(int direction) {
  if (!selectedRef_)
    return;
  worker_.post(Slot::Step,
               [this, from = *selectedRef_, direction](TraceReader& reader,
                                                       const Cancellation&) -> QueryWorker::Reply {
                 auto next = reader.neighbour(from, direction);
                 if (!next || !*next)
                   return {};
                 return [this, event = **next] { moveTo(event); };
               });
}

void TimelineModel::follow(bool forward) {
  if (!details_)
    return;
  const Arrows& arrows = details_->arrows;
  const std::vector<FoundEvent>& ends = forward ? arrows.to : arrows.from;
  if (ends.empty())
    return;
  moveTo(EventRef(ends.front().ref));
}

void TimelineModel::search(const QString& text, bool forward, std::int64_t fromNs) {
  if (state_ != State::Ready || text.isEmpty())
    return;
  searched_ = text;
  constexpr EventRef kLast{Table::Transfer, std::numeric_limits<std::int64_t>::max()};
  SearchRequest request{text, fromNs, forward ? EventRef() : kLast, forward};
  if (details_)
    request = {text, details_->event.block.startNs, details_->event.ref, forward};
  worker_.post(
      Slot::Search,
      [this, request](TraceReader& reader, const Cancellation& cancellation) -> QueryWorker::Reply {
        auto reply = reader.search(request, cancellation);
        if (!reply)
          return {};
        return [this, read = *std::move(reply)] {
          emit searchFinished(read);
          if (!read.found)
            return;
          moveTo(read.found->ref);
        };
      });
  emit blocksChanged();
}

void TimelineModel::clearSearch() {
  worker_.cancel(Slot::Search);
  searched_.clear();
  emit blocksChanged();
}

void TimelineModel::sumSpan(std::int64_t beginNs,
                            std::int64_t endNs,
                            const std::vector<int>& tracks) {
  if (state_ != State::Ready)
    return;
  const WindowRequest request{beginNs, endNs, 0, tracks};
  worker_.post(
      Slot::Span,
      [this, request](TraceReader& reader, const Cancellation& cancellation) -> QueryWorker::Reply {
        auto rows = reader.span(request, cancellation);
        if (!rows)
          return {};
        return [this, read = *std::move(rows)]() mutable {
          span_ = std::move(read);
          emit spanChanged();
        };
      });
}

void TimelineModel::clearSpan() {
  worker_.cancel(Slot::Span);
  span_.clear();
  emit spanChanged();
}

}  // namespace sonde::gui
