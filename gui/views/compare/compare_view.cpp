#include "gui/views/compare/compare_view.h"

#include "gui/trace/qtext.h"
#include "gui/trace/time_format.h"
#include "gui/views/chart/lane_chart.h"
#include "gui/views/table/table_panel.h"
#include "gui/views/theme.h"

#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSplitter>
#include <QVBoxLayout>

#include <functional>
#include <map>
#include <utility>

namespace sonde::gui {
namespace {

namespace diff = engine::diff;

constexpr std::size_t kMostLegend = 8;
constexpr double kFaded = 0.25;  // of the colour of spans that are not highlighted

// The spans of a run on the lanes of one rank, or of all.
LaneGroup groupOf(const QString& title,
                  const diff::IterationSpans& run,
                  const std::optional<std::int64_t>& rank,
                  const std::function<QColor(const diff::OperationSpan&)>& colorOf) {
  LaneGroup group{title, {}, {}, run.durNs};
  std::vector<std::optional<std::size_t>> places;  // by lane of the run
  for (const diff::SpanLane& lane : run.lanes) {
    const bool isWanted = !rank || !lane.rank || lane.rank == rank;
    places.push_back(isWanted ? std::optional(group.lanes.size()) : std::nullopt);
    if (isWanted)
      group.lanes.push_back(qtext(lane.name));
  }
  for (const diff::OperationSpan& span : run.spans) {
    const auto& place = places[span.lane];
    if (!place)
      continue;
    const QString operation =
        span.operation.empty() ? CompareView::tr("outside of all") : QString(qtext(span.operation));
    group.spans.push_back({*place,
                           span.beginNs,
                           span.endNs,
                           colorOf(span),
                           span.name.empty()
                               ? operation
                               : CompareView::tr("%1 (%2)").arg(qtext(span.name), operation)});
  }
  return group;
}

}  // namespace

CompareView::CompareView(TraceModels& models) : Panel(models) {
  auto* page = new QWidget;
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(8, 8, 8, 0);
  auto* line = new QHBoxLayout;
  auto* choose = new QPushButton(tr("Compare with an earlier run…"));
  names_ = new QLabel;
  names_->setTextFormat(Qt::PlainText);
  line->addWidget(choose);
  line->addSpacing(8);
  line->addWidget(names_, 1);
  layout->addLayout(line);
  sentence_ = new QLabel;
  sentence_->setTextFormat(Qt::PlainText);
  sentence_->setWordWrap(true);
  QFont large = sentence_->font();
  large.setPointSizeF(large.pointSizeF() * 1.2);
  sentence_->setFont(large);
  layout->addWidget(sentence_);
  rows_ = new TablePanel(table_);
  rows_->setAccessibleName(tr("Differences"));
  auto* halves = new QSplitter(Qt::Vertical);
  halves->addWidget(rows_);
  halves->addWidget(buildLanes());
  halves->setSizes({2000, 2000});
  layout->addWidget(halves, 1);
  page->setFocusProxy(rows_);
  setContent(page);
  connect(choose, &QPushButton::clicked, this, &CompareView::chooseFiles);
  connect(rows_, &TablePanel::opened, this, &CompareView::placeWanted);
  connect(rows_, &TablePanel::currentRowChanged, this, &CompareView::highlight);
  connect(&models.focus, &Focus::changed, this, [this] { showLanes(true); });
  connect(&models.view, &ViewState::colorsChanged, this, [this] { showLanes(true); });
  followTime();
  connect(&models.times, &TimeBasis::changed, this, [this] { refresh(); });
}

QWidget* CompareView::buildLanes() {
  auto* pane = new QWidget;
  auto* layout = new QVBoxLayout(pane);
  layout->setContentsMargins(0, 4, 0, 0);
  auto* line = new QHBoxLayout;
  iteration_ = new QComboBox;
  iteration_->setAccessibleName(tr("Iteration"));
  iteration_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  iteration_->hide();
  lanesNote_ = new QLabel;
  lanesNote_->setTextFormat(Qt::PlainText);
  lanesNote_->setWordWrap(true);
  line->addWidget(iteration_);
  line->addWidget(lanesNote_, 1);
  layout->addLayout(line);
  chart_ = new LaneChart;
  chart_->setAccessibleName(tr("Timelines of the iteration before and after"));
  layout->addWidget(chart_, 1);
  connect(iteration_, &QComboBox::activated, this, [this](int at) {
    readLanes(drawn_.iterations.at(static_cast<std::size_t>(at)));
  });
  return pane;
}

QString CompareView::sentence() const {
  return sentence_->text();
}

QString CompareView::lanesNote() const {
  return lanesNote_->text();
}

void CompareView::chooseFiles() {
  const QStringList paths = QFileDialog::getOpenFileNames(
      this, tr("Traces of the earlier runs"), {}, tr("Sonde traces (*.sonde);;All files (*)"));
  if (!paths.isEmpty())
    compareWith(paths);
}

void CompareView::compareWith(const QStringList& before) {
  before_ = before;
  refresh();
}

void CompareView::read() {
  showContent();
  table_.show({});
  drawn_ = {};
  highlighted_.clear();
  showLanes(false);
  if (before_.isEmpty()) {
    names_->clear();
    lanesNote_->clear();
    sentence_->setText(
        tr("Choose one or more traces of the same program. Several runs a side show "
           "smaller differences."));
    return;
  }
  QStringList names;
  for (const QString& path : before_)
    names << QFileInfo(path).fileName();
  names_->setText(tr("before: %1").arg(names.join(QStringLiteral(", "))));
  sentence_->setText(tr("Comparing…"));
  const ComparisonRequest request{before_,
                                  {models().document.skeleton().file},
                                  models().times.isCorrected(),
                                  models().view.selectedTime()};
  models().analyses.ask(
      *this,
      [request](const store::Database& trace) { return compareTraces(trace, request); },
      [this](const Result<Comparison>& comparison) { show(comparison); });
  readLanes({});
}

void CompareView::show(const Result<Comparison>& comparison) {
  if (!comparison) {
    sentence_->setText(QString::fromStdString(comparison.error().message));
    return;
  }
  QString sentence = sentenceOf(comparison->diff);
  if (comparison->iterations)
    sentence += tr(" Only %1 of each run: those that lie in the selected span as a whole.")
                    .arg(titleOf(*comparison->iterations));
  sentence_->setText(sentence);
  table_.show(differenceRows(comparison->diff));
}

void CompareView::readLanes(const std::optional<diff::IterationName>& wanted) {
  lanesNote_->setText(tr("Reading…"));
  models().analyses.ask(
      lanesReader_,
      [request = ComparedLanesRequest{before_, wanted, models().view.selectedTime()}](
          const store::Database& trace) { return readComparedLanes(trace, request); },
      [this](Result<ComparedLanes> lanes) {
        if (!lanes) {
          drawn_ = {};
          lanesNote_->setText(QString::fromStdString(lanes.error().message));
          return showLanes(false);
        }
        drawn_ = *std::move(lanes);
        lanesNote_->setText(
            tr("Each run from the begin of the iteration. A click on a row of the "
               "table highlights its spans."));
        showLanes(false);
      });
}

void CompareView::highlight(int row) {
  const std::vector<QVariant>& values = table_.rows().at(static_cast<std::size_t>(row)).values;
  highlighted_ = table_.rows().at(static_cast<std::size_t>(row)).place.name;
  isKernel_ = values.at(1) == qtext(diff::word(diff::Kind::Kernel));
  showLanes(true);
}

void CompareView::showLanes(bool keepRange) {
  const QSignalBlocker blocker(iteration_);
  iteration_->clear();
  for (const diff::IterationName& each : drawn_.iterations)
    iteration_->addItem(titleOf(each));
  iteration_->setCurrentText(titleOf(drawn_.shown));
  iteration_->setVisible(!drawn_.iterations.empty());
  if (drawn_.iterations.empty()) {
    chart_->show({}, false);
    return;
  }
  const Theme theme(palette());
  LaneData shown;
  std::map<std::string, QColor> colors;
  for (const auto& [operation, kind] : operationsOf(drawn_)) {
    const QColor color = theme.fill(models().view.colorBy(), kindOf(kind), qtext(operation));
    colors.emplace(operation, color);
    if (shown.legend.size() < kMostLegend)
      shown.legend.emplace_back(qtext(operation), color);
  }
  const auto colorOf = [&](const diff::OperationSpan& span) {
    const auto known = colors.find(span.operation);
    const QColor color = known == colors.end() ? theme.border : known->second;
    const bool isFaded =
        !highlighted_.isEmpty() && highlighted_ != qtext(isKernel_ ? span.name : span.operation);
    return isFaded ? theme.faded(color, kFaded) : color;
  };
  const auto rank = models().focus.part().rank;
  QStringList files;
  for (const QString& file : drawn_.beforeFiles)
    files << QFileInfo(file).fileName();
  shown.groups = aboveEachOther(
      groupOf(tr("before: %1").arg(files.join(QStringLiteral(", "))), drawn_.before, rank, colorOf),
      groupOf(tr("after: this trace"), drawn_.after, rank, colorOf));
  chart_->show(std::move(shown), keepRange);
}

}  // namespace sonde::gui
