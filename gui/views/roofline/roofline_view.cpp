#include "gui/views/roofline/roofline_view.h"

#include "gui/trace/qtext.h"
#include "gui/trace/time_format.h"
#include "gui/views/chart/scatter_chart.h"
#include "gui/views/section.h"
#include "gui/views/table/table_panel.h"
#include "gui/views/theme.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <utility>

namespace sonde::gui {
namespace {

using engine::roofline::Bound;
using engine::roofline::DeviceRoofline;
using engine::roofline::RooflinePoint;

// The memory's roof rises from the lowest intensity to the highest ridge; each arithmetic roof goes
// on from there.
std::vector<ScatterLine> roofsOf(const DeviceRoofline& device) {
  std::vector<ScatterLine> lines;
  if (!(device.bytesPerSecond > 0) || device.roofs.empty())
    return lines;
  double low = HUGE_VAL;
  double high = 0;
  for (const RooflinePoint& point : device.points)
    if (point.intensity() > 0) {
      low = std::min(low, point.intensity());
      high = std::max(high, point.intensity());
    }
  const double ridge = device.roofs.front().flopsPerSecond / device.bytesPerSecond;
  constexpr double kBeyond = 4;
  low = std::min(low, device.roofs.back().flopsPerSecond / device.bytesPerSecond) / 2;
  high = std::max(high, ridge) * kBeyond;
  lines.push_back(
      {QString(),
       {{low, low * device.bytesPerSecond}, {ridge, device.roofs.front().flopsPerSecond}}});
  for (const auto& roof : device.roofs)
    lines.push_back({QStringLiteral("%1: %2FLOP/s")
                         .arg(qtext(roof.name), numberText(roof.flopsPerSecond, ValueKind::Scaled)),
                     {{roof.flopsPerSecond / device.bytesPerSecond, roof.flopsPerSecond},
                      {high, roof.flopsPerSecond}}});
  return lines;
}

QColor colorOf(Bound bound) {
  constexpr std::size_t kNumbers[] = {3, 0, 1, 2};
  return Theme::ofNumber(kNumbers[static_cast<std::size_t>(bound)]);
}

}  // namespace

RooflineView::RooflineView(TraceModels& models) : Panel(models) {
  auto* whole = new QWidget;
  auto* layout = new QVBoxLayout(whole);
  layout->setContentsMargins(8, 8, 8, 0);
  auto* line = new QHBoxLayout;
  device_ = new QComboBox;
  device_->setAccessibleName(tr("Device"));
  device_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  note_ = new QLabel;
  note_->setWordWrap(true);
  line->addWidget(device_);
  line->addSpacing(16);
  line->addWidget(note_, 1);
  layout->addLayout(line);
  chart_ = new ScatterChart;
  table_ = new TablePanel(kernels_);
  table_->stretch(8);
  auto* halves = new QSplitter(Qt::Horizontal);
  halves->addWidget(new Section(tr("Roofline"), chart_));
  halves->addWidget(new Section(tr("Kernels"), table_));
  halves->setSizes({1000, 1200});
  layout->addWidget(halves, 1);
  whole->setFocusProxy(table_);
  setContent(whole);
  connect(device_, &QComboBox::currentIndexChanged, this, &RooflineView::show);
  connect(chart_, &ScatterChart::clicked, this, [this](std::size_t point) {
    chart_->select(point);
    table_->selectRow(static_cast<int>(point));
  });
  connect(table_, &TablePanel::currentRowChanged, this, [this](int row) {
    chart_->select(static_cast<std::size_t>(row));
  });
  connect(table_, &TablePanel::opened, this, &RooflineView::placeWanted);
  followTime();
}

QString RooflineView::note() const {
  return note_->text();
}

void RooflineView::read() {
  ask([within = models().view.selectedTime()](
          const store::Database& trace) { return engine::roofline::readRooflines(trace, within); },
      [this](std::vector<DeviceRoofline> devices) {
        devices_ = std::move(devices);
        showDevices();
      });
}

void RooflineView::showDevices() {
  if (devices_.empty()) {
    const QString none =
        models().view.area()
            ? tr("The selected span has no kernel whose work is known. Click it in the tool bar to "
                 "see the whole trace.")
            : tr("The trace has no operators with recorded sizes, and no hardware counters, so the "
                 "work of its kernels is unknown.");
    showMessage(none + tr(" Record sizes with sonde run --torch-operators shapes, or with "
                          "torch.profiler and record_shapes=True. Count operations and bytes with "
                          "sonde run --counters roofline."));
    return;
  }
  {
    const QSignalBlocker blocker(device_);
    const QString chosen = device_->currentText();
    device_->clear();
    for (const DeviceRoofline& each : devices_)
      device_->addItem(qtext(each.device));
    device_->setCurrentIndex(std::max(device_->findText(chosen), 0));
  }
  show();
}

void RooflineView::show() {
  const int at = device_->currentIndex();
  if (at < 0 || static_cast<std::size_t>(at) >= devices_.size())
    return;
  const DeviceRoofline& device = devices_[static_cast<std::size_t>(at)];
  ScatterData values{tr("operations for each byte of memory traffic (FLOP/byte)"),
                     tr("FLOP/s; the area of a point is its total time"),
                     {},
                     roofsOf(device)};
  for (const Bound bound : {Bound::Memory, Bound::Compute, Bound::Latency})
    if (device.bytesPerSecond > 0)
      values.legend.push_back({tr("bound by %1").arg(titleOf(bound)), colorOf(bound)});
  for (const RooflinePoint& point : device.points)
    values.points.push_back({point.intensity(),
                             point.flopsPerSecond(),
                             point.ns,
                             colorOf(point.bound()),
                             textOf(point)});
  chart_->show(std::move(values));
  kernels_.show(rooflineRows(device));
  QString note = noteOf(device);
  if (device.bytesPerSecond > 0)
    note += tr(" Memory: %1/s.").arg(formatBytes(std::llround(device.bytesPerSecond)));
  if (models().view.area())
    note += tr(" Only operators whose kernels overlap the selected span.");
  note_->setText(note);
}

}  // namespace sonde::gui
