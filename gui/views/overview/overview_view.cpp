#include "gui/views/overview/overview_view.h"

#include "gui/trace/qtext.h"
#include "gui/views/chart/bar_chart.h"
#include "gui/views/chart/line_chart.h"
#include "gui/views/section.h"
#include "gui/views/table/table_panel.h"
#include "gui/views/theme.h"

#include <QGridLayout>
#include <QLabel>
#include <QTableView>
#include <QVBoxLayout>

#include <map>
#include <tuple>
#include <utility>

namespace sonde::gui {
namespace {

constexpr std::size_t kMostRanks = 16;  // with a line of their own

// The spans of iterations in job time, by process, number, and how often the number came before.
using IterationKey = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
std::map<IterationKey, Span> iterationSpans(const Skeleton& skeleton) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> seen;
  std::map<IterationKey, Span> spans;
  for (const IterationInfo& each : skeleton.iterations) {
    const std::int64_t process = skeleton.processes.at(static_cast<std::size_t>(each.process)).id;
    const std::int64_t occurrence = seen[{process, each.number}]++;
    spans[{process, each.number, occurrence}] = {each.startNs, endOf(each, skeleton.endNs)};
  }
  return spans;
}

QColor colorOf(const Theme& theme, int part) {
  constexpr Kind kKinds[] = {Kind::Forward, Kind::Collective, Kind::Copy, Kind::DataLoad};
  constexpr int kIdle = static_cast<int>(std::size(kKinds));
  return part < kIdle ? theme.fill(kKinds[part]) : part == kIdle ? theme.grid : theme.border;
}

}  // namespace

OverviewView::OverviewView(TraceModels& models)
    : Panel(models),
      operations_(operationColumns()),
      path_(pathColumns()),
      findings_(findingColumns()),
      notes_(noteColumns()) {
  auto* page = new QWidget;
  auto* grid = new QGridLayout(page);
  grid->setContentsMargins(16, 12, 16, 12);
  grid->setHorizontalSpacing(24);
  grid->setVerticalSpacing(12);
  headline_ = new QLabel;
  headline_->setTextFormat(Qt::PlainText);
  headline_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  headline_->setMinimumWidth(1);
  QFont large = headline_->font();
  large.setPointSizeF(large.pointSizeF() * 1.3);
  headline_->setFont(large);
  facts_ = new QLabel;
  grid->addWidget(headline_, 0, 0, 1, 2);
  grid->addWidget(facts_, 1, 0, 1, 2);
  iterations_ = new LineChart;
  times_ = new BarChart;
  TablePanel* operations = tableOf(operations_, 0);
  operations->sortBy(4);
  addSection(
      *grid,
      {0, 2},
      new Section(tr("Iterations"), iterations_, QStringLiteral("timeline"), tr("Timeline")));
  addSection(*grid,
             {1, 2},
             new Section(tr("Where the time of each rank went"),
                         times_,
                         QStringLiteral("breakdown"),
                         tr("Breakdown")));
  addSection(*grid, {0, 3}, new Section(tr("Operations"), operations));
  auto* findings = new QWidget;
  auto* column = new QVBoxLayout(findings);
  column->setContentsMargins(0, 0, 0, 0);
  findingsState_ = new QLabel;
  column->addWidget(findingsState_);
  column->addWidget(tableOf(findings_, 4), 1);
  addSection(*grid,
             {1, 3},
             new Section(tr("Findings"), findings, QStringLiteral("findings"), tr("Findings")));
  addSection(*grid, {0, 4}, new Section(tr("Critical path of the iterations"), tableOf(path_, 1)));
  addSection(*grid, {1, 4}, new Section(tr("Remarks"), tableOf(notes_, 1)));
  for (int row = 2; row < 5; ++row)
    grid->setRowStretch(row, 1);
  grid->setColumnStretch(0, 1);
  grid->setColumnStretch(1, 1);
  setContent(page);
  connect(&models.times, &TimeBasis::changed, this, [this] { refresh(); });
  connect(iterations_, &LineChart::clicked, this, &OverviewView::placeWanted);
  connect(
      times_, &BarChart::clicked, this, [this](const Place& place) { emit placeWanted(place); });
}

void OverviewView::addSection(QGridLayout& grid, const QPoint& cell, Section* section) {
  connect(
      section, &Section::viewWanted, this, [this](const QString& view) { emit viewWanted(view); });
  grid.addWidget(section, cell.y(), cell.x());
}

TablePanel* OverviewView::tableOf(ValueTable& table, int stretch) {
  auto* panel = new TablePanel(table, TablePanel::Filter::None);
  panel->stretch(stretch);
  connect(panel, &TablePanel::opened, this, &OverviewView::placeWanted);
  return panel;
}

void OverviewView::read() {
  ask(reportQuery(models()), [this](const SharedReport& report) { show(*report); });
  findings_.show({});
  showFindingsState(tr("Evaluating rules…"));
  models().analyses.ask(checking_, models().once.query<readFindings>(), [this](const auto& check) {
    showFindings(check);
  });
}

void OverviewView::show(const engine::report::JobReport& report) {
  headline_->setText(jobTitle(report, models().document.skeleton(), models().document.paths()));
  facts_->setText(factsLine(report));
  operations_.show(operationRows(report));
  path_.show(pathRows(report));
  notes_.show(noteRows(report));
  const Theme theme(palette());
  BarData bars;
  const QStringList parts = rankTimeParts();
  for (int part = 0; part < parts.size(); ++part)
    bars.parts.push_back({parts[part], colorOf(theme, part)});
  for (RankBar& rank : rankTimes(report))
    bars.bars.push_back({rank.label, std::move(rank.ns), {}, {}, {.rank = rank.rank}});
  times_->show(std::move(bars));
  showIterations(report);
}

void OverviewView::showIterations(const engine::report::JobReport& report) {
  const auto spans = iterationSpans(models().document.skeleton());
  LineData lines{tr("iteration"), ValueKind::Duration, true, {}};
  for (const auto& rank : report.ranks) {
    if (lines.series.size() == kMostRanks)
      break;
    Series series{qtext(rank.process.name), Theme::ofNumber(lines.series.size()), {}};
    for (std::size_t at = 0; at < rank.iterationTimes.size(); ++at) {
      const auto& iteration = rank.process.iterations[at];
      ChartPoint point{double(iteration.number), double(rank.iterationTimes[at].ns)};
      point.place.rank = rank.process.rank;
      if (const auto span =
              spans.find({rank.process.processId, iteration.number, iteration.occurrence});
          span != spans.end())
        point.place.span = span->second;
      series.points.push_back(std::move(point));
    }
    if (!series.points.empty())
      lines.series.push_back(std::move(series));
  }
  iterations_->show(std::move(lines));
}

void OverviewView::showFindings(const Result<std::shared_ptr<const rules::CheckReport>>& check) {
  if (!check) {
    showFindingsState(QString::fromStdString(check.error().message));
    return;
  }
  findings_.show(findingRows(**check));
  showFindingsState(findings_.rows().empty() ? tr("No rule found a fault.") : QString());
}

// The text instead of the table; empty: the table is shown.
void OverviewView::showFindingsState(const QString& text) {
  findingsState_->setText(text);
  findingsState_->setVisible(!text.isEmpty());
}

}  // namespace sonde::gui
