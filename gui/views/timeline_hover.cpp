// TimelineView's texts about the item under the mouse.
#include "gui/trace/process_text.h"
#include "gui/trace/time_format.h"
#include "gui/views/timeline_view.h"

#include <QHelpEvent>
#include <QToolTip>

#include <algorithm>

namespace sonde::gui {
namespace {

constexpr int kHitSlack = 2;  // pixels beside a narrow slice that still select it

QString row(const QString& name, const QString& value) {
  return QStringLiteral("<tr><td style='padding-right:10px'>%1</td><td>%2</td></tr>")
      .arg(name, value.toHtmlEscaped());
}

}  // namespace

const LayoutEntry* TimelineView::entryAt(const QPoint& at) const {
  return at.y() < headerHeight() ? nullptr
                                 : models_.timeline.layout().at(at.y() - contentCorner().y());
}

std::optional<TimelineView::Target> TimelineView::targetAt(const QPoint& at) const {
  const LayoutEntry* entry = entryAt(at);
  if (at.x() < labelWidth_ || entry == nullptr || entry->track < 0)
    return {};
  const int y = at.y() - contentCorner().y();
  const int row = (y - entry->y - TrackLayout::kTrackPadding) / TrackLayout::kRowHeight;
  const int x = at.x() - labelWidth_;
  const Viewport& viewport = models_.view.viewport();
  for (const int slack : {0, kHitSlack}) {
    const Block* block = models_.timeline.hit(
        entry->track, row, viewport.timeAt(x - slack), viewport.timeAt(x + 1 + slack));
    if (block != nullptr)
      return Target{entry->track, *block};
  }
  return {};
}

void TimelineView::updateHover(const QPoint& at) {
  mouse_ = at;
  const auto target = targetAt(at);
  const auto keyOf = [](const std::optional<Target>& t) {
    return t ? std::pair(t->track, t->block.id) : std::pair(-1, std::int64_t{-1});
  };
  if (keyOf(target) != keyOf(hover_)) {
    hoverScope_.clear();
    QToolTip::hideText();
    viewport()->update();
  }
  hover_ = target;
  emit hovered(hoverText());
}

QString TimelineView::hoverText() const {
  if (mouse_.x() < labelWidth_ || !models_.document.ready())
    return {};
  const Viewport& viewport = models_.view.viewport();
  const std::int64_t at =
      viewport.timeAt(mouse_.x() - labelWidth_) - models_.document.skeleton().originNs;
  QString text = formatTime(at, static_cast<std::int64_t>(std::max(viewport.nsPerPixel(), 1.0)));
  if (!hover_)
    return text;
  const Block& block = hover_->block;
  text += "   " + nameOf(block, models_.timeline.names());
  if (block.bytes > 0)
    text += " " + formatBytes(block.bytes);
  if (block.count > 1)
    return text + tr("   and %1 more here, %2 in all")
                      .arg(block.count - 1)
                      .arg(formatDuration(block.busyNs));
  return text + "   " + lengthOf(block);
}

QString TimelineView::toolTipText() const {
  const Block& block = hover_->block;
  const Skeleton& skeleton = models_.document.skeleton();
  const TrackInfo& track = skeleton.tracks.at(static_cast<std::size_t>(hover_->track));
  const bool transfer = track.owner == Owner::Channel;
  const QString name = nameOf(block, models_.timeline.names());
  QString text = QStringLiteral("<b>%1</b><table>").arg(name.left(400).toHtmlEscaped());
  if (block.count > 1)
    text += row(tr("Here"), tr("%1 events, the longest is named").arg(block.count)) +
            row(tr("In all"), formatDuration(block.busyNs));
  text += row(tr("Kind"), wordOf(block.kind)) +
          row(tr("Start"), formatTime(block.startNs - skeleton.originNs, 1));
  if (block.count == 1)
    text += row(tr("Duration"), lengthOf(block));
  if (transfer || block.bytes > 0)
    text += row(tr("Bytes"), formatBytes(block.bytes));
  text += row(transfer                       ? tr("Channel")
              : track.owner == Owner::Stream ? tr("Stream")
                                             : tr("Thread"),
              track.name + " " + track.detail);
  text += row(tr("Process"),
              titleOf(skeleton.processes.at(static_cast<std::size_t>(track.process))).left(80));
  if (!hoverScope_.isEmpty())
    text += row(transfer ? tr("By") : tr("Scope"), hoverScope_);
  return text + QStringLiteral("</table>");
}

QString TimelineView::processToolTip(int process) const {
  const Skeleton& skeleton = models_.document.skeleton();
  const ProcessInfo& info = skeleton.processes.at(static_cast<std::size_t>(process));
  QString text = QStringLiteral("<b>%1</b><table>").arg(titleOf(info).left(100).toHtmlEscaped());
  for (const auto& [name, value] : detailsOf(info, skeleton.originNs).rows)
    text += row(name, value.left(400));
  if (models_.timeline.layout().quiet(process))
    text += row(tr("Events"), tr("none"));
  return text + QStringLiteral("</table>");
}

void TimelineView::showToolTip() {
  const LayoutEntry* entry = entryAt(mouse_);
  QString text;
  if (hover_)
    text = toolTipText();
  else if (entry != nullptr && entry->type == LayoutEntry::Type::Process)
    text = processToolTip(entry->process);
  if (!text.isEmpty())
    QToolTip::showText(viewport()->mapToGlobal(mouse_), text, viewport());
}

bool TimelineView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::Leave) {
    mouse_ = QPoint(-1, -1);
    hover_.reset();
    emit hovered({});
    viewport()->update();
  }
  if (event->type() != QEvent::ToolTip)
    return QAbstractScrollArea::viewportEvent(event);
  updateHover(static_cast<QHelpEvent*>(event)->pos());
  showToolTip();
  if (hover_ && hover_->block.count == 1)
    models_.timeline.askScope(refOf(hover_->block));
  return true;
}

}  // namespace sonde::gui
