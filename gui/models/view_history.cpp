#include "gui/models/view_history.h"

namespace sonde::gui {
namespace {

constexpr int kRestMs = 350;
constexpr std::size_t kMostMoments = 200;

}  // namespace

bool ViewHistory::Moment::isSame(const Moment& other) const {
  return viewport.beginNs() == other.viewport.beginNs() &&
         viewport.endNs() == other.viewport.endNs() && area == other.area && focus == other.focus &&
         arrangement == other.arrangement;
}

ViewHistory::ViewHistory(ViewState& view, Focus& focus, TimelineModel& timeline)
    : view_(view), focus_(focus), timeline_(timeline), current_(now()) {
  rest_.setSingleShot(true);
  rest_.setInterval(kRestMs);
  connect(&rest_, &QTimer::timeout, this, &ViewHistory::keep);
  const auto start = [this] { rest_.start(); };
  connect(&view_, &ViewState::changed, this, start);
  connect(&focus_, &Focus::changed, this, start);
  connect(&timeline_, &TimelineModel::layoutChanged, this, start);
}

ViewHistory::Moment ViewHistory::now() const {
  return {view_.viewport(), view_.area(), focus_.part(), timeline_.arrangement()};
}

bool ViewHistory::canGoBack() const {
  return !earlier_.empty() || !now().isSame(current_);
}

void ViewHistory::keep() {
  rest_.stop();
  const Moment reached = now();
  if (reached.isSame(current_))
    return;
  earlier_.push_back(current_);
  if (earlier_.size() > kMostMoments)
    earlier_.erase(earlier_.begin());
  later_.clear();
  current_ = reached;
  emit changed();
}

void ViewHistory::goBack() {
  keep();
  if (earlier_.empty())
    return;
  later_.push_back(current_);
  const Moment moment = earlier_.back();
  earlier_.pop_back();
  show(moment);
}

void ViewHistory::goForward() {
  keep();
  if (later_.empty())
    return;
  earlier_.push_back(current_);
  const Moment moment = later_.back();
  later_.pop_back();
  show(moment);
}

void ViewHistory::show(const Moment& moment) {
  Viewport viewport = view_.viewport();
  viewport.show(moment.viewport.beginNs(), moment.viewport.endNs());
  view_.setViewport(viewport);
  view_.setArea(moment.area);
  focus_.set(moment.focus);
  timeline_.arrange(moment.arrangement);
  current_ = now();
  rest_.stop();
  emit changed();
}

void ViewHistory::clear() {
  rest_.stop();
  earlier_.clear();
  later_.clear();
  current_ = now();
  emit changed();
}

}  // namespace sonde::gui
