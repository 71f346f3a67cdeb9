#include "gui/views/memory/memory_view.h"

#include "gui/trace/time_format.h"
#include "gui/views/chart/line_chart.h"
#include "gui/views/section.h"
#include "gui/views/table/table_panel.h"
#include "gui/views/theme.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace sonde::gui {
namespace {

constexpr double kMemoryNsPerSecond = 1e9;

}  // namespace

MemoryView::MemoryView(TraceModels& models) : Panel(models) {
  auto* places = new TablePanel(places_, TablePanel::Filter::None);
  places->stretch(6);
  chart_ = new LineChart;
  auto* operations = new TablePanel(operations_);
  auto* upper = new QSplitter(Qt::Horizontal);
  upper->addWidget(new Section(tr("Processes and devices"), places));
  upper->addWidget(new Section(tr("Memory over time"), chart_));
  upper->setSizes({1300, 1000});
  auto* lower = new QSplitter(Qt::Horizontal);
  lower->addWidget(buildHolders());
  lower->addWidget(new Section(tr("Use by operation"), operations));
  lower->setSizes({1200, 1000});
  auto* page = new QSplitter(Qt::Vertical);
  page->addWidget(upper);
  page->addWidget(lower);
  page->setSizes({900, 1000});
  page->setContentsMargins(8, 8, 8, 0);
  page->setFocusProxy(places);
  setContent(page);
  connect(places, &TablePanel::currentRowChanged, this, &MemoryView::choose);
  connect(places, &TablePanel::opened, this, &MemoryView::placeWanted);
  connect(operations, &TablePanel::opened, this, &MemoryView::placeWanted);
  connect(chart_, &LineChart::clickedAt, this, &MemoryView::lookAt);
  followTime();
}

QWidget* MemoryView::buildHolders() {
  auto* whole = new QWidget;
  auto* layout = new QVBoxLayout(whole);
  layout->setContentsMargins(0, 0, 0, 0);
  auto* heading = new QHBoxLayout;
  note_ = new QLabel;
  note_->setWordWrap(true);
  peak_ = new QPushButton(tr("Peak"));
  peak_->setToolTip(tr("Look at the peak again"));
  timeline_ = new QPushButton(tr("Timeline"));
  timeline_->setToolTip(tr("Show this moment in the timeline"));
  heading->addWidget(note_, 1);
  heading->addWidget(peak_);
  heading->addWidget(timeline_);
  layout->addLayout(heading);
  auto* rows = new TablePanel(holders_);
  rows->setAccessibleName(tr("Allocations alive"));
  layout->addWidget(rows, 1);
  connect(peak_, &QPushButton::clicked, this, &MemoryView::lookAtPeak);
  connect(timeline_, &QPushButton::clicked, this, [this] {
    constexpr std::int64_t kAroundNs = 1'000'000;
    Place place;
    const std::int64_t ns = at_ ? at_->jobNs : line().peak.jobNs;
    place.span = Span{ns - kAroundNs, ns + kAroundNs};
    place.rank = line().use.rank;
    emit placeWanted(place);
  });
  connect(rows, &TablePanel::opened, this, &MemoryView::placeWanted);
  return whole;
}

QString MemoryView::note() const {
  return note_->text();
}

void MemoryView::read() {
  ask([within = models().view.selectedTime()](
          const store::Database& trace) { return readMemory(trace, within); },
      [this](std::vector<MemoryLine> lines) {
        const QString chosen = lines_.empty() ? QString() : titleOf(line().use);
        lines_ = std::move(lines);
        const auto again = std::find_if(lines_.begin(), lines_.end(), [&](const MemoryLine& each) {
          return titleOf(each.use) == chosen;
        });
        showPlaces(again == lines_.end() ? 0 : static_cast<int>(again - lines_.begin()));
      });
}

void MemoryView::showPlaces(int row) {
  if (lines_.empty()) {
    showMessage(
        tr("The trace has no allocations. sonde run --sources +memory records those of the host; "
           "those of CUDA are recorded by default. torch.profiler has them with "
           "profile_memory=True, and a snapshot of PyTorch's allocator can be imported. The view "
           "System has the memory of machines and GPUs as they were sampled."));
    return;
  }
  places_.show(memoryRows(lines_));
  choose(row);
}

void MemoryView::choose(int row) {
  line_ = row;
  operations_.show(memoryOperationRows(line().use));
  lookAtPeak();
}

double MemoryView::secondsOf(std::int64_t jobNs) {
  return static_cast<double>(jobNs - models().document.skeleton().originNs) / kMemoryNsPerSecond;
}

void MemoryView::lookAtPeak() {
  at_.reset();
  showChart();
  readHolders(line().peak);
}

void MemoryView::lookAt(double seconds) {
  const std::vector<MemoryPoint>& levels = line().levels;
  const auto after = std::upper_bound(
      levels.begin(), levels.end(), seconds, [&](double at, const MemoryPoint& point) {
        return at < secondsOf(point.jobNs);
      });
  if (after == levels.begin())
    return;
  at_ = *std::prev(after);
  showChart();
  readHolders(*at_);
}

void MemoryView::showChart() {
  LineData lines{tr("seconds"), ValueKind::Bytes};
  lines.leastStepX = 0;
  const Skeleton& skeleton = models().document.skeleton();
  const auto& area = models().view.area();
  const Span shown = area ? area->span : Span{skeleton.beginNs, skeleton.endNs};
  lines.lowX = secondsOf(shown.beginNs);
  lines.highX = secondsOf(shown.endNs);
  std::int64_t endNs = shown.endNs;  // of what the process holds
  for (const ProcessInfo& process : skeleton.processes)
    if (process.id == line().use.processId)
      endNs = std::min(endNs, process.endNs.value_or(endNs));
  const auto add = [&](const QString& name, const std::vector<MemoryPoint>& points) {
    Series series{name, Theme::ofNumber(lines.series.size()), {}, true};
    for (const MemoryPoint& point : points)
      series.points.push_back({secondsOf(point.jobNs), static_cast<double>(point.bytes)});
    if (!points.empty() && points.back().jobNs < endNs)
      series.points.push_back({secondsOf(endNs), series.points.back().y});
    lines.series.push_back(std::move(series));
  };
  add(titleOf(line().use), line().levels);
  if (!line().reserved.empty())
    add(tr("reserved by PyTorch"), line().reserved);
  lines.marks.push_back(
      {secondsOf(line().peak.jobNs), tr("peak %1").arg(formatBytes(line().peak.bytes))});
  if (at_)
    lines.marks.push_back({secondsOf(at_->jobNs), formatBytes(at_->bytes)});
  chart_->show(std::move(lines));
  peak_->setEnabled(at_.has_value());
}

void MemoryView::readHolders(const MemoryPoint& at) {
  const bool isPeak = !at_;
  askFor(
      holdersRead_,
      [use = line().use, at](const store::Database& trace) {
        return gui::readHolders(trace, use, at.hostNs);
      },
      [this, at, isPeak](const std::vector<engine::metrics::MemoryHolder>& holders) {
        holders_.show(holderRows(holders, at.bytes));
        const MemoryLine& of = line();
        QString text = tr("Alive at %1: %2")
                           .arg(isPeak ? tr("the peak, %1 s").arg(secondsOf(at.jobNs), 0, 'f', 3)
                                       : tr("%1 s").arg(secondsOf(at.jobNs), 0, 'f', 3),
                                formatBytes(at.bytes));
        if (isPeak && of.use.peakIteration)
          text += tr(", iteration %1").arg(*of.use.peakIteration);
        if (of.use.baseBytes > 0)
          text += tr(". %1 of it were allocated before the recording began")
                      .arg(formatBytes(of.use.baseBytes));
        if (models().view.area())
          text += tr(". All values are those in the selected span");
        note_->setText(text + QStringLiteral(". ") +
                       tr("A click in the chart looks at another moment."));
      });
}

}  // namespace sonde::gui
