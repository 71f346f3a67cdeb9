#include "gui/views/system/system_view.h"

#include "gui/trace/qtext.h"
#include "gui/trace/time_format.h"
#include "gui/views/chart/line_chart.h"
#include "gui/views/section.h"
#include "gui/views/table/table_panel.h"
#include "gui/views/theme.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QSplitter>
#include <QVBoxLayout>

#include <utility>

namespace sonde::gui {
namespace {

constexpr double kNsPerSecond = 1e9;
constexpr int kChartHeight = 190;  // with its title

}  // namespace

SystemView::SystemView(TraceModels& models) : Panel(models) {
  auto* rows = new TablePanel(energy_);
  rows->stretch(2);
  energySection_ = new Section(tr("Energy by operation"), rows);
  auto* page = new QSplitter(Qt::Vertical);
  page->addWidget(buildCharts());
  page->addWidget(energySection_);
  page->setSizes({1800, 600});
  page->setContentsMargins(8, 8, 8, 0);
  setContent(page);
  connect(host_, &QComboBox::currentIndexChanged, this, &SystemView::showCharts);
  connect(rows, &TablePanel::opened, this, &SystemView::placeWanted);
  followTime();
}

QWidget* SystemView::buildCharts() {
  auto* whole = new QWidget;
  auto* layout = new QVBoxLayout(whole);
  layout->setContentsMargins(0, 0, 0, 0);
  auto* line = new QHBoxLayout;
  host_ = new QComboBox;
  host_->setAccessibleName(tr("Machine"));
  host_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  note_ = new QLabel;
  note_->setWordWrap(true);
  line->addWidget(host_);
  line->addSpacing(16);
  line->addWidget(note_, 1);
  layout->addLayout(line);
  auto* area = new QScrollArea;
  area->setFrameShape(QFrame::NoFrame);
  area->setWidgetResizable(true);
  auto* inner = new QWidget;
  inner->setAutoFillBackground(true);
  inner->setBackgroundRole(QPalette::Base);
  charts_ = new QVBoxLayout(inner);
  charts_->setContentsMargins(0, 4, 0, 4);
  charts_->setSpacing(10);
  area->setWidget(inner);
  layout->addWidget(area, 1);
  return whole;
}

QStringList SystemView::titles() const {
  return titles_;
}

std::vector<const LineChart*> SystemView::charts() const {
  return shown_;
}

QString SystemView::note() const {
  return note_->text();
}

void SystemView::read() {
  ask([within = models().view.selectedTime()](
          const store::Database& trace) { return readSystem(trace, within); },
      [this](SystemValues values) {
        values_ = std::move(values);
        show();
      });
}

void SystemView::show() {
  if (!values_.hasCounters) {
    showMessage(
        tr("The trace has no counters. sonde run records the machine, its GPUs and the resources "
           "of the job's processes by default, with the source system. Other tools' traces have "
           "no counters that Sonde imports."));
    return;
  }
  const auto& area = models().view.area();
  QString note = area ? tr("The selected range of %1.").arg(formatDuration(area->span.durNs()))
                      : tr("The whole trace; select a range in the timeline to see only that. A "
                           "click leads to the time.");
  if (values_.energy.empty() && !area)
    note +=
        tr(" No energy was recorded: sonde run reads NVIDIA's GPUs, and processors (RAPL) if it "
           "may read /sys/class/powercap.");
  note_->setText(note);
  energy_.show(energyRows(values_));
  energySection_->setVisible(!values_.energy.empty());
  showHosts();
  showCharts();
}

void SystemView::showHosts() {
  const QSignalBlocker blocker(host_);
  const QVariant chosen = host_->currentData();
  host_->clear();
  for (const auto& chart : values_.charts) {
    const auto id = QVariant::fromValue<qlonglong>(chart.hostId);
    if (host_->findData(id) < 0)
      host_->addItem(qtext(chart.host), id);
  }
  host_->setCurrentIndex(std::max(host_->findData(chosen), 0));
}

void SystemView::showCharts() {
  for (Section* section : sections_)
    delete section;
  sections_.clear();
  shown_.clear();
  titles_.clear();
  for (const auto& chart : values_.charts) {
    if (chart.hostId != host_->currentData().toLongLong())
      continue;
    LineChart* drawn = chartOf(chart);
    titles_ << titleOf(chart);
    auto* section = new Section(titles_.back(), drawn);
    charts_->addWidget(section);
    sections_.push_back(section);
    shown_.push_back(drawn);
  }
  charts_->parentWidget()->setMinimumHeight(static_cast<int>(sections_.size()) * kChartHeight);
}

LineChart* SystemView::chartOf(const engine::counters::CounterChart& chart) {
  const std::int64_t origin = models().document.skeleton().originNs;
  const auto seconds = [origin](std::int64_t ns) {
    return static_cast<double>(ns - origin) / kNsPerSecond;
  };
  LineData lines{tr("seconds"), unitOf(chart)};
  const Skeleton& skeleton = models().document.skeleton();
  lines.lowX = seconds(skeleton.beginNs);
  lines.highX = seconds(skeleton.endNs);
  if (const auto& area = models().view.area()) {
    lines.lowX = seconds(area->span.beginNs);
    lines.highX = seconds(area->span.endNs);
  }
  lines.leastStepX = 0;
  lines.fromZero = isFromZero(chart);
  for (const auto& series : chart.series) {
    Series line{qtext(series.name), Theme::ofNumber(lines.series.size()), {}, series.isRate};
    for (const auto& point : series.points)
      line.points.push_back({seconds(point.ns), point.value});
    lines.series.push_back(std::move(line));
  }
  auto* drawn = new LineChart;
  drawn->show(std::move(lines));
  connect(drawn, &LineChart::clickedAt, this, &SystemView::openAt);
  return drawn;
}

// Shows a hundredth of the charts' time around there.
void SystemView::openAt(double seconds) {
  constexpr double kParts = 200;
  const Skeleton& skeleton = models().document.skeleton();
  const auto& area = models().view.area();
  const double ns =
      static_cast<double>(area ? area->span.durNs() : skeleton.endNs - skeleton.beginNs) / kParts;
  const std::int64_t at = skeleton.originNs + static_cast<std::int64_t>(seconds * kNsPerSecond);
  Place place;
  place.span = Span{at - static_cast<std::int64_t>(ns),
                    at + std::max<std::int64_t>(1, static_cast<std::int64_t>(ns))};
  emit placeWanted(place);
}

}  // namespace sonde::gui
