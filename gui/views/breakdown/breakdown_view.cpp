#include "gui/views/breakdown/breakdown_view.h"

#include "gui/trace/time_format.h"
#include "gui/views/chart/bar_chart.h"
#include "gui/views/table/table_panel.h"
#include "gui/views/theme.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSplitter>
#include <QVBoxLayout>

#include <utility>

namespace sonde::gui {
namespace {

constexpr std::size_t kMostBars = 400;
constexpr qsizetype kMostParts = 12;  // with a colour of their own

QColor partColor(const Theme& theme, ColorBy by, const BreakdownBars& bars, qsizetype part) {
  const QString& label = bars.parts[part];
  if (bars.outside.isEmpty())
    return Theme::ofNumber(static_cast<std::size_t>(part));
  if (label == bars.outside)
    return theme.border;
  const auto kind = bars.kinds.constFind(label);
  return theme.fill(by, kind == bars.kinds.constEnd() ? std::nullopt : std::optional(*kind), label);
}

}  // namespace

BreakdownView::BreakdownView(TraceModels& models) : Panel(models) {
  using By = BreakdownBy;
  auto* page = new QWidget;
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(8, 8, 8, 0);
  auto* choices = new QHBoxLayout;
  bars_ = comboOf(
      {By::Operation, By::Process, By::Iteration, By::Phase, By::Module, By::Thread, By::Category},
      tr("Bars"));
  parts_ = comboOf({By::Category, By::Resource, By::Operation, By::Phase, By::Module}, tr("Parts"));
  note_ = new QLabel;
  choices->addWidget(new QLabel(tr("A bar for each")));
  choices->addWidget(bars_);
  choices->addWidget(new QLabel(tr("divided by")));
  choices->addWidget(parts_);
  choices->addSpacing(16);
  choices->addWidget(note_, 1);
  layout->addLayout(choices);
  auto* halves = new QSplitter(Qt::Vertical);
  chart_ = new BarChart;
  chart_->setAccessibleName(tr("Breakdown"));
  auto* rows = new TablePanel(table_);
  halves->addWidget(chart_);
  halves->addWidget(rows);
  halves->setSizes({3000, 2000});
  layout->addWidget(halves, 1);
  page->setFocusProxy(rows);
  setContent(page);
  connect(
      chart_, &BarChart::clicked, this, [this](const Place& place) { emit placeWanted(place); });
  connect(rows, &TablePanel::opened, this, &BreakdownView::placeWanted);
  connect(&models.focus, &Focus::changed, this, [this] {
    const Focus::Part& part = this->models().focus.part();
    if (part.rank != limits_.rank || part.operation != limits_.operation)
      refresh();
  });
  followTime();
  connect(&models.view, &ViewState::colorsChanged, this, &BreakdownView::draw);
  connect(&models.times, &TimeBasis::changed, this, [this] { refresh(); });
}

QComboBox* BreakdownView::comboOf(std::initializer_list<BreakdownBy> choices, const QString& name) {
  auto* combo = new QComboBox;
  for (const BreakdownBy by : choices)
    combo->addItem(titleOf(by), static_cast<int>(by));
  combo->setAccessibleName(name);
  connect(combo, &QComboBox::currentIndexChanged, this, [this] { refresh(); });
  return combo;
}

void BreakdownView::choose(BreakdownBy bars, BreakdownBy parts) {
  bars_->setCurrentIndex(bars_->findData(static_cast<int>(bars)));
  parts_->setCurrentIndex(parts_->findData(static_cast<int>(parts)));
}

void BreakdownView::read() {
  const auto bars = static_cast<BreakdownBy>(bars_->currentData().toInt());
  const auto parts = static_cast<BreakdownBy>(parts_->currentData().toInt());
  note_->setText(tr("Reading…"));
  limits_ = models().focus.part();
  const BreakdownRequest request{
      bars, parts, limits_, models().view.selectedTime(), models().times.isCorrected()};
  ask([request](const store::Database& trace) { return readBreakdown(trace, request); },
      [this](BreakdownBars read) { show(std::move(read)); });
}

void BreakdownView::draw() {
  const BreakdownBars& bars = read_;
  const Theme theme(palette());
  BarData drawn;
  for (qsizetype part = 0; part < bars.parts.size(); ++part) {
    if (part == kMostParts) {
      drawn.parts.push_back({tr("others"), theme.border});
      break;
    }
    drawn.parts.push_back(
        {bars.parts[part], partColor(theme, models().view.colorBy(), bars, part)});
  }
  for (const BreakdownBar& bar : bars.bars) {
    if (drawn.bars.size() == kMostBars)
      break;
    Bar shown{bar.label, std::vector<double>(drawn.parts.size(), 0.0), {}, {}, bar.place};
    for (std::size_t part = 0; part < bar.ns.size(); ++part)
      shown.values[std::min(part, drawn.parts.size() - 1)] += static_cast<double>(bar.ns[part]);
    if (bars.isCorrected) {
      shown.low = static_cast<double>(bar.lowNs);
      shown.high = static_cast<double>(bar.highNs);
    }
    drawn.bars.push_back(std::move(shown));
  }
  chart_->show(std::move(drawn));
}

void BreakdownView::show(BreakdownBars bars) {
  note_->setText(
      tr("%1 in all%2%3%4")
          .arg(formatDuration(bars.totalNs),
               models().view.area() ? tr(" of the selected span") : QString(),
               bars.isCorrected ? tr(", corrected for the cost of recording") : tr(", as recorded"),
               bars.bars.size() > kMostBars ? tr("; the first %L1 bars are drawn").arg(kMostBars)
                                            : QString()));
  table_.show(breakdownRows(bars));
  read_ = std::move(bars);
  draw();
}

}  // namespace sonde::gui
