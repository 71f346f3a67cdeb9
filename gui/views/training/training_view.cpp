#include "gui/views/training/training_view.h"

#include "gui/trace/qtext.h"
#include "gui/views/chart/line_chart.h"
#include "gui/views/chart/ridge_chart.h"
#include "gui/views/section.h"
#include "gui/views/table/table_panel.h"
#include "gui/views/theme.h"

#include <QLabel>
#include <QListWidget>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace sonde::gui {
namespace {

using engine::metrics::Interval;
using engine::training::ScalarSeries;
using engine::training::TensorPoint;

Place placeOf(const Interval& time, std::optional<std::int64_t> rank) {
  Place place;
  place.span = Span{time.begin, std::max(time.end, time.begin + 1)};
  place.rank = rank;
  return place;
}

Series seriesOf(const ScalarSeries& of, std::size_t number) {
  Series series{qtext(of.process), Theme::ofNumber(number), {}};
  for (const auto& point : of.points)
    series.points.push_back(
        {static_cast<double>(point.iteration), point.value, placeOf(point.time, of.rank)});
  return series;
}

Series seriesOf(const QString& name,
                std::size_t number,
                const std::vector<TensorPoint>& points,
                double TensorPoint::*value) {
  Series series{name, Theme::ofNumber(number), {}};
  for (const TensorPoint& point : points)
    series.points.push_back(
        {static_cast<double>(point.iteration), point.*value, placeOf(point.time, std::nullopt)});
  return series;
}

}  // namespace

TrainingView::TrainingView(TraceModels& models) : Panel(models) {
  ridges_ = new RidgeChart;
  ridgeSection_ = new Section(tr("Values of the tensor, iteration by iteration"), ridges_);
  connect(ridges_, &RidgeChart::clicked, this, &TrainingView::placeWanted);
  auto* page = new QSplitter(Qt::Horizontal);
  page->addWidget(buildLists());
  page->addWidget(buildCharts());
  page->addWidget(ridgeSection_);
  page->setSizes({560, 1300, 650});
  page->setContentsMargins(8, 8, 8, 0);
  page->setFocusProxy(scalars_);
  setContent(page);
  followTime();
}

QWidget* TrainingView::buildLists() {
  scalars_ = new QListWidget;
  scalars_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  scalars_->setFrameShape(QFrame::NoFrame);
  scalars_->setToolTip(tr("Ctrl + click: several"));
  connect(scalars_, &QListWidget::itemSelectionChanged, this, &TrainingView::readSeries);
  tensorList_ = new TablePanel(tensors_);
  tensorList_->stretch(4);
  connect(tensorList_, &TablePanel::currentRowChanged, this, [this](int row) {
    tensor_ = row;
    readSeries();
  });
  tensorSection_ = new Section(tr("Tensors"), tensorList_);
  hint_ = new QLabel;
  hint_->setWordWrap(true);
  auto* lists = new QSplitter(Qt::Vertical);
  lists->addWidget(new Section(tr("Scalars"), scalars_));
  lists->addWidget(tensorSection_);
  lists->addWidget(hint_);
  lists->setSizes({600, 1000, 200});
  return lists;
}

LineChart* TrainingView::addChart(const QString& title, Section*& section) {
  auto* chart = new LineChart;
  section = new Section(title, chart);
  connect(chart, &LineChart::clicked, this, &TrainingView::placeWanted);
  return chart;
}

// The charts of scalars come first; showScalars() inserts them.
QWidget* TrainingView::buildCharts() {
  lines_ = new QSplitter(Qt::Vertical);
  Section* section = nullptr;
  statistics_ = addChart(tr("Statistics of the tensor"), statisticsSection_);
  lines_->addWidget(statisticsSection_);
  times_ = addChart(tr("Time of iterations"), section);
  lines_->addWidget(section);
  return lines_;
}

void TrainingView::choose(const QStringList& scalars) {
  {
    const QSignalBlocker blocker(scalars_);
    for (int row = 0; row < scalars_->count(); ++row)
      scalars_->item(row)->setSelected(scalars.contains(scalars_->item(row)->text()));
  }
  readSeries();
}

void TrainingView::chooseTensor(int row) {
  tensor_ = row;
  readSeries();
}

std::vector<const LineChart*> TrainingView::charts() const {
  std::vector<const LineChart*> charts;
  for (const Section* section : scalarSections_)
    charts.push_back(section->findChild<LineChart*>());
  return charts;
}

QString TrainingView::hint() const {
  return hint_->text();
}

void TrainingView::read() {
  ask(readTrainingNames, [this](TrainingNames names) {
    if (!names.isEmpty() && names == names_)
      return readSeries();  // of another span: the user's choice stays
    names_ = std::move(names);
    showNames();
  });
}

void TrainingView::showNames() {
  if (names_.isEmpty()) {
    showMessage(
        tr("The trace has no scalars and no tensors. Record scalars with sonde.scalar(\"loss\", "
           "value) in the program; PyTorch's losses are recorded by themselves. Record statistics "
           "of weights and gradients with sonde run --sources +tensor."));
    return;
  }
  constexpr int kFirstShown = 2;
  {
    const QSignalBlocker blocker(scalars_);
    scalars_->clear();
    for (const std::string& name : names_.scalars)
      scalars_->addItem(qtext(name));
    for (int row = 0; row < std::min(kFirstShown, scalars_->count()); ++row)
      scalars_->item(row)->setSelected(true);
  }
  const auto largest = std::max_element(
      names_.tensors.begin(), names_.tensors.end(), [](const auto& a, const auto& b) {
        const auto rankOf = [](const auto& of) {
          return std::pair(of.elements, of.collection == "weights");
        };
        return rankOf(a) < rankOf(b);
      });
  tensor_ = names_.tensors.empty() ? -1 : static_cast<int>(largest - names_.tensors.begin());
  tensors_.show(tensorRows(names_));
  if (tensor_ >= 0) {
    const QSignalBlocker blocker(tensorList_);
    tensorList_->selectRow(tensor_);
  }
  tensorSection_->setVisible(!names_.tensors.empty());
  readSeries();
}

void TrainingView::readSeries() {
  TrainingChoice choice;
  choice.within = models().view.selectedTime();
  for (const std::string& name : names_.scalars)
    for (const QListWidgetItem* item : scalars_->selectedItems())
      if (item->text() == qtext(name))
        choice.scalars.push_back(name);
  if (tensor_ >= 0)
    choice.tensor = names_.tensors.at(static_cast<std::size_t>(tensor_));
  askFor(
      seriesRead_,
      [choice = std::move(choice)](const store::Database& trace) {
        return readTrainingSeries(trace, choice);
      },
      [this](TrainingSeries series) {
        series_ = std::move(series);
        showSeries();
      });
}

void TrainingView::showSeries() {
  hint_->setText((models().view.area() ? tr("Only the iterations that overlap the selected span. ")
                                       : QString()) +
                 (names_.tensors.empty()
                      ? tr("No tensors were recorded: sonde run --sources +tensor.")
                      : tr("Ctrl + click shows several scalars. A click on a point leads to its "
                           "iteration in the timeline.")));
  showScalars();
  showTensor();
  showTimes();
}

void TrainingView::showScalars() {
  for (Section* section : scalarSections_)
    delete section;
  scalarSections_.clear();
  const auto [low, high] = iterationRange(series_);
  for (const auto& [name, all] : series_.scalars) {
    Section* section = nullptr;
    LineChart* chart = addChart(qtext(name), section);
    lines_->insertWidget(static_cast<int>(scalarSections_.size()), section);
    scalarSections_.push_back(section);
    LineData lines{tr("iteration"), ValueKind::Real, false, {}, low, high};
    for (std::size_t at = 0; at < all.size(); ++at)
      lines.series.push_back(seriesOf(all[at], at));
    chart->show(std::move(lines));
  }
}

void TrainingView::showTensor() {
  const bool hasTensor = tensor_ >= 0 && !series_.tensor.empty();
  statisticsSection_->setVisible(hasTensor);
  ridgeSection_->setVisible(hasTensor && !series_.ridges.points.empty());
  if (!hasTensor)
    return;
  const auto [low, high] = iterationRange(series_);
  statistics_->show({tr("iteration"),
                     ValueKind::Real,
                     false,
                     {seriesOf(tr("maximum"), 1, series_.tensor, &TensorPoint::maximum),
                      seriesOf(tr("mean"), 0, series_.tensor, &TensorPoint::mean),
                      seriesOf(tr("minimum"), 2, series_.tensor, &TensorPoint::minimum)},
                     low,
                     high});
  RidgeData ridges{tr("iteration"),
                   tr("of the elements"),
                   series_.ridges.low,
                   series_.ridges.high,
                   {},
                   Theme::ofNumber(0)};
  for (std::size_t at = 0; at < series_.ridges.points.size(); ++at) {
    const TensorPoint& point = series_.tensor[series_.ridges.points[at]];
    ridges.ridges.push_back({QString::number(point.iteration),
                             series_.ridges.density[at],
                             placeOf(point.time, std::nullopt)});
  }
  ridges_->show(std::move(ridges));
}

void TrainingView::showTimes() {
  const auto [low, high] = iterationRange(series_);
  LineData lines{tr("iteration"), ValueKind::Duration, true, {}, low, high};
  for (std::size_t at = 0; at < series_.iterations.size(); ++at)
    lines.series.push_back(seriesOf(series_.iterations[at], at));
  times_->show(std::move(lines));
}

}  // namespace sonde::gui
