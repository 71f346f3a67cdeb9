#include "gui/views/flame/scope_pane.h"

#include "gui/trace/time_format.h"
#include "gui/views/chart/heat_map.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>
#include <utility>

namespace sonde::gui {
namespace {

constexpr int kMapHeight = 170;

// The cell of a time, down the columns; of a time between two columns the end of the earlier one.
std::optional<HeatMap::Cell> cellAt(const engine::callpaths::BusyCells& cells, std::int64_t ns) {
  const auto after = std::partition_point(cells.columns.begin(),
                                          cells.columns.end(),
                                          [&](const auto& column) { return column.beginNs <= ns; });
  if (after == cells.columns.begin())
    return std::nullopt;
  const auto column = static_cast<std::size_t>(after - cells.columns.begin() - 1);
  const auto& iteration = cells.columns[column];
  const std::int64_t within = std::min(ns, iteration.endNs - 1) - iteration.beginNs;
  return HeatMap::Cell{static_cast<std::size_t>(within / cells.cellNs), column};
}

}  // namespace

ScopePane::ScopePane(QWidget* parent) : QWidget(parent) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  auto* heading = new QHBoxLayout;
  fold_ = new QToolButton;
  fold_->setAutoRaise(true);
  fold_->setCheckable(true);
  fold_->setText(tr("Within iterations"));
  fold_->setToolTip(
      tr("How busy the job was: a column for each iteration, its time from top to "
         "bottom. Click or drag to limit the flame graph to a part"));
  fold_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  note_ = new QLabel;
  heading->addWidget(fold_);
  heading->addWidget(note_, 1);
  layout->addLayout(heading);
  map_ = new HeatMap;
  map_->setSelectable(true);
  map_->setAccessibleName(tr("Busy time within iterations"));
  map_->setFixedHeight(kMapHeight);
  layout->addWidget(map_);
  connect(fold_, &QToolButton::toggled, this, [this](bool isOpen) {
    setOpen(isOpen);
    emit opened(isOpen);
  });
  connect(map_, &HeatMap::runSelected, this, [this](const HeatMap::Run& run) {
    const auto first = cells_.timeOf(run.first.row, run.first.column);
    const auto last = cells_.timeOf(run.last.row, run.last.column);
    if (first.begin < last.end)
      emit spanSelected({first.begin, last.end});
  });
  setOpen(true);
}

void ScopePane::setOpen(bool isOpen) {
  fold_->setChecked(isOpen);
  fold_->setArrowType(isOpen ? Qt::DownArrow : Qt::RightArrow);
  map_->setVisible(isOpen && hasMap_);
  note_->setVisible(isOpen);
}

bool ScopePane::isOpen() const {
  return fold_->isChecked();
}

void ScopePane::show(engine::callpaths::BusyCells cells, ValueKind unit) {
  cells_ = std::move(cells);
  hasMap_ = !cells_.columns.empty();
  if (!hasMap_) {
    showText(
        tr("The trace has no iterations: mark them with sonde.iteration(), or record a "
           "PyTorch program with an optimiser."));
    return;
  }
  HeatData drawn{tr("time"), tr("iteration"), {}, {}, {}, unit};
  for (std::size_t row = 0; row < cells_.rows; ++row)
    drawn.rows.push_back(formatDuration(static_cast<std::int64_t>(row) * cells_.cellNs));
  for (const auto& column : cells_.columns)
    drawn.columns.push_back(QString::number(column.number));
  for (const std::int64_t value : cells_.values)
    drawn.values.push_back(value == engine::callpaths::BusyCells::kAfterEnd
                               ? std::numeric_limits<double>::quiet_NaN()
                               : static_cast<double>(value));
  map_->show(std::move(drawn));
  note_->setText(
      tr("cells of %1; click or drag to select a part").arg(formatDuration(cells_.cellNs)));
  setOpen(isOpen());
}

void ScopePane::showText(const QString& text) {
  hasMap_ = false;
  cells_ = {};
  note_->setText(text);
  setOpen(isOpen());
}

void ScopePane::outline(const std::optional<Span>& span) {
  std::optional<HeatMap::Run> run;
  if (span && hasMap_ && span->endNs > cells_.columns.front().beginNs &&
      span->beginNs < cells_.columns.back().endNs) {
    const auto first = cellAt(cells_, std::max(span->beginNs, cells_.columns.front().beginNs));
    const auto last = cellAt(cells_, span->endNs - 1);
    if (first && last)
      run = HeatMap::Run{*first, *last};
  }
  map_->setSelection(run);
}

}  // namespace sonde::gui
