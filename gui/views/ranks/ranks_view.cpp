#include "gui/views/ranks/ranks_view.h"

#include "gui/models/overview/overview_values.h"
#include "gui/trace/qtext.h"
#include "gui/trace/time_format.h"
#include "gui/views/chart/heat_map.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace sonde::gui {

RanksView::RanksView(TraceModels& models) : Panel(models) {
  auto* page = new QWidget;
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(8, 8, 8, 8);
  auto* line = new QHBoxLayout;
  value_ = new QComboBox;
  value_->setAccessibleName(tr("Value"));
  for (const RankValue value : {RankValue::Time, RankValue::Communication, RankValue::Idle})
    value_->addItem(titleOf(value), static_cast<int>(value));
  note_ = new QLabel;
  note_->setWordWrap(true);
  line->addWidget(value_);
  line->addSpacing(16);
  line->addWidget(note_, 1);
  layout->addLayout(line);
  map_ = new HeatMap;
  map_->setAccessibleName(tr("Iterations by rank"));
  layout->addWidget(map_, 1);
  setContent(page);
  connect(value_, &QComboBox::activated, this, [this] {
    choose(static_cast<RankValue>(value_->currentData().toInt()));
  });
  connect(&models.times, &TimeBasis::changed, this, [this] { refresh(); });
  connect(&models.document, &TraceDocument::replaced, this, [this] { report_.reset(); });
  connect(map_, &HeatMap::clicked, this, &RanksView::showCell);
  followTime();
}

void RanksView::choose(RankValue value) {
  isChosen_ = true;
  value_->setCurrentIndex(value_->findData(static_cast<int>(value)));
  show();
}

QString RanksView::note() const {
  return note_->text();
}

void RanksView::read() {
  ask(reportQuery(models()), [this](SharedReport report) {
    report_ = std::move(report);
    if (!isChosen_)
      value_->setCurrentIndex(value_->findData(static_cast<int>(tellingValue(*report_))));
    show();
  });
}

void RanksView::show() {
  if (report_ == nullptr)
    return;
  const auto within = models().view.selectedTime();
  std::optional<std::set<IterationKey>> only;
  if (within)
    only = iterationsIn(models().document.skeleton(), *within);
  matrix_ = rankMatrix(*report_, static_cast<RankValue>(value_->currentData().toInt()), only);
  if (matrix_.values.empty()) {
    showMessage(
        within ? tr("No iteration shares time with the selected span.")
               : tr("The trace has no iterations: mark them with sonde.iteration(), or record a "
                    "PyTorch program with an optimiser."));
    return;
  }
  HeatData drawn{tr("rank"), tr("iteration"), matrix_.ranks, matrix_.iterations, matrix_.values};
  map_->show(std::move(drawn));
  QString note;
  if (const auto& straggler = report_->path.straggler)
    note = tr("Rank %1 makes the job slow: it costs %2 of an iteration (%3 %), most of it in %4.")
               .arg(straggler->rank)
               .arg(formatDuration(straggler->ns))
               .arg(100 * straggler->share, 0, 'f', 1)
               .arg(qtext(straggler->operation));
  else if (report_->path.whyNoStraggler.empty() && report_->ranks.size() > 1)
    note = tr("No rank holds the others up.");
  if (within && !note.isEmpty())
    note += tr(" This is of the whole trace.");
  note_->setText(note);
}

// Shows the iteration of the rank in the timeline.
void RanksView::showCell(std::size_t row, std::size_t column) {
  if (report_ == nullptr)  // of the trace before
    return;
  const auto& rank = report_->ranks.at(row);
  const Skeleton& skeleton = models().document.skeleton();
  const IterationInfo* iteration =
      iterationOf(skeleton, rank.process.processId, matrix_.keys.at(column));
  if (iteration == nullptr)
    return;
  Place place;
  place.rank = rank.process.rank;
  place.span = Span{iteration->startNs, endOf(*iteration, skeleton.endNs)};
  emit placeWanted(place);
}

}  // namespace sonde::gui
