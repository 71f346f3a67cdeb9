#include "gui/views/flame/flame_view.h"

#include "gui/trace/qtext.h"
#include "gui/views/chart/flame_chart.h"
#include "gui/views/flame/call_pane.h"
#include "gui/views/flame/scope_pane.h"
#include "gui/views/legend_bar.h"

#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>

namespace sonde::gui {

using engine::callpaths::kRoot;

FlameView::FlameView(TraceModels& models) : Panel(models) {
  auto* page = new QWidget;
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(8, 8, 8, 0);
  layout->addWidget(makeChoices());
  scope_ = new ScopePane;
  layout->addWidget(scope_);
  auto* halves = new QSplitter(Qt::Horizontal);
  halves->addWidget(makeGraph());
  calls_ = new CallPane;
  halves->addWidget(calls_);
  halves->setSizes({1700, 1000});
  layout->addWidget(halves, 1);
  setContent(page);
  page->setFocusProxy(chart_);
  connectParts();
}

QWidget* FlameView::makeChoices() {
  auto* line = new QWidget;
  auto* layout = new QHBoxLayout(line);
  layout->setContentsMargins(0, 0, 0, 0);
  source_ = new QComboBox;
  source_->setAccessibleName(tr("Source"));
  source_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  const auto toggle = [](const QString& text, const QString& tip) {
    auto* button = new QToolButton;
    button->setText(text);
    button->setToolTip(tip);
    button->setCheckable(true);
    return button;
  };
  inverted_ = toggle(tr("&Inverted"),
                     tr("Begins with the time that each name has itself; below are its callers"));
  byThread_ = toggle(tr("&Threads apart"), tr("The first rows are processes and threads"));
  search_ = new QLineEdit;
  search_->setPlaceholderText(tr("Mark names"));
  search_->setAccessibleName(tr("Mark names"));
  search_->setClearButtonEnabled(true);
  search_->setMaximumWidth(320);
  marked_ = new QLabel;
  layout->addWidget(source_);
  layout->addWidget(inverted_);
  layout->addWidget(byThread_);
  layout->addSpacing(12);
  layout->addWidget(search_, 1);
  layout->addWidget(marked_);
  layout->addStretch(1);
  limits_ = new QLabel;
  limits_->setTextFormat(Qt::PlainText);
  everything_ = new QPushButton(tr("Show &everything"));
  layout->addWidget(limits_);
  layout->addWidget(everything_);
  return line;
}

QWidget* FlameView::makeGraph() {
  auto* graph = new QWidget;
  auto* layout = new QVBoxLayout(graph);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  layers_ = new QStackedWidget;
  chart_ = new FlameChart;
  chart_->setAccessibleName(tr("Flame graph"));
  state_ = new QLabel;
  state_->setWordWrap(true);
  state_->setAlignment(Qt::AlignCenter);
  state_->setTextFormat(Qt::PlainText);
  state_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  layers_->addWidget(chart_);
  layers_->addWidget(state_);
  current_ = new QLabel;
  current_->setTextFormat(Qt::PlainText);
  current_->setMinimumWidth(1);
  layout->addWidget(layers_, 1);
  layout->addWidget(current_);
  legend_ = new LegendBar;
  layout->addWidget(legend_);
  return graph;
}

void FlameView::connectParts() {
  connect(source_, &QComboBox::activated, this, [this] {
    choose(static_cast<FlameSource>(source_->currentData().toInt()));
  });
  connect(inverted_, &QToolButton::toggled, this, &FlameView::invert);
  connect(byThread_, &QToolButton::toggled, this, &FlameView::divideByThread);
  connect(search_, &QLineEdit::textChanged, this, [this](const QString& text) {
    chart_->mark(text);
    showMarked();
  });
  connect(everything_, &QPushButton::clicked, this, [this] {
    models().focus.clear();
    models().view.setArea(std::nullopt);
  });
  connect(scope_, &ScopePane::opened, this, &FlameView::readScope);
  connect(scope_, &ScopePane::spanSelected, this, [this](const Span& span) {
    const auto& before = models().view.area();
    models().view.setArea(Area{span, before ? before->tracks : std::vector<TrackId>()});
  });
  connect(chart_, &FlameChart::currentChanged, this, &FlameView::showCurrent);
  connect(chart_, &FlameChart::menuWanted, this, &FlameView::openMenu);
  connect(calls_, &CallPane::currentChanged, chart_, &FlameChart::setCurrent);
  connect(calls_, &CallPane::zoomWanted, chart_, &FlameChart::zoomTo);
  connect(calls_, &CallPane::menuWanted, this, &FlameView::openMenu);
  connect(calls_, &CallPane::placeWanted, this, &FlameView::placeWanted);
  followTime();
  connect(&models().view, &ViewState::colorsChanged, this, [this] {
    chart_->setColorBy(models().view.colorBy());
    showLegend();
  });
  connect(&models().focus, &Focus::changed, this, &FlameView::follow);
  connect(&models().document, &TraceDocument::replaced, this, &FlameView::forget);
}

// Nothing of another trace stays.
void FlameView::forget() {
  choice_.source.reset();
  cellsOf_.reset();
  values_ = {};
  chart_->show({});
  calls_->clear();
  scope_->showText({});
  current_->clear();
}

void FlameView::choose(FlameSource source) {
  choice_.source = source;
  refresh();
}

void FlameView::invert(bool isInverted) {
  inverted_->setChecked(isInverted);
  if (choice_.isInverted == isInverted)
    return;
  choice_.isInverted = isInverted;
  refresh();
}

void FlameView::divideByThread(bool byThread) {
  byThread_->setChecked(byThread);
  if (choice_.filter.byThread == byThread)
    return;
  choice_.filter.byThread = byThread;
  refresh();
}

void FlameView::search(const QString& text) {
  search_->setText(text);
}

QString FlameView::limits() const {
  return limits_->text();
}

QString FlameView::state() const {
  return layers_->currentWidget() == state_ ? state_->text() : QString();
}

// Reads again if the user looks at another part.
void FlameView::follow() {
  auto filter = flameFilter(models());
  filter.byThread = choice_.filter.byThread;
  if (filter != choice_.filter)
    refresh();
}

void FlameView::read() {
  showContent();
  const bool byThread = choice_.filter.byThread;
  choice_.filter = flameFilter(models());
  choice_.filter.byThread = byThread;
  const QString limits = limitsText(choice_.filter);
  limits_->setText(limits);
  everything_->setVisible(!limits.isEmpty());
  current_->setText(tr("Reading…"));
  if (chart_->data().tree == nullptr)
    showState(tr("Reading…"));
  models().analyses.ask(
      pathReader_,
      [choice = choice_](const store::Database& trace) { return readFlame(trace, choice); },
      [this](const Result<FlameValues>& values) { show(values); });
}

void FlameView::show(const Result<FlameValues>& values) {
  if (!values) {
    showState(QString::fromStdString(values.error().message));
    current_->clear();
    return;
  }
  values_ = *values;
  showSources();
  chart_->show({values_.shown,
                unitOf(values_.source),
                tr("all"),
                eventsOf(values_.source),
                models().view.colorBy()});
  calls_->show(values_);
  showState(values_.shown->empty()
                ? (limits_->text().isEmpty() ? tr("There is nothing of this source")
                                             : tr("There is nothing of this source in the part "
                                                  "that is selected"))
                : QString());
  showMarked();
  showLegend();
  showCurrent(chart_->current());
  readScope();
}

void FlameView::showSources() {
  source_->clear();
  for (const FlameSource source : values_.sources)
    source_->addItem(titleOf(source), static_cast<int>(source));
  source_->setCurrentIndex(source_->findData(static_cast<int>(values_.source)));
}

// The text instead of the flame graph; empty: it is shown.
void FlameView::showState(const QString& text) {
  state_->setText(text);
  layers_->setCurrentWidget(text.isEmpty() ? static_cast<QWidget*>(chart_) : state_);
}

void FlameView::showMarked() {
  marked_->setText(
      search_->text().isEmpty()
          ? QString()
          : tr("%1 of the time").arg(numberText(chart_->markedShare(), ValueKind::Share)));
}

void FlameView::showCurrent(Node node) {
  current_->setText(chart_->textOf(node));
  if (CallTreeModel::nodeOf(calls_->treeView().currentIndex()) != node)
    calls_->setCurrent(node);
  else
    calls_->chooseName(nameOf(node));
}

// Functions of stack samples have no kind.
void FlameView::showLegend() {
  const bool hasKinds =
      values_.source == FlameSource::Slices || values_.source == FlameSource::DeviceWork;
  legend_->setVisible(hasKinds && models().view.colorBy() == ColorBy::Kind);
}

// The cells have all of the time, but only the chosen rank, operation and threads.
void FlameView::readScope() {
  const auto outline = [this] {
    const auto& area = models().view.area();
    scope_->outline(area ? std::optional(area->span) : std::nullopt);
  };
  if (!scope_->isOpen() || values_.shown == nullptr)
    return;
  auto filter = choice_.filter;
  filter.range.reset();
  filter.byThread = false;
  const std::pair wanted{values_.source, filter};
  if (cellsOf_ == wanted) {
    outline();
    return;
  }
  models().analyses.ask(
      scopeReader_,
      [wanted](const store::Database& trace) {
        return readCells(trace, wanted.first, wanted.second);
      },
      [this, wanted, outline](Result<engine::callpaths::BusyCells> cells) {
        if (!cells) {
          scope_->showText(QString::fromStdString(cells.error().message));
          return;
        }
        cellsOf_ = wanted;
        scope_->show(*std::move(cells), unitOf(wanted.first));
        outline();
      });
}

QString FlameView::nameOf(Node node) const {
  return values_.shown == nullptr || node == kRoot ? QString() : qtext(values_.shown->textOf(node));
}

// The name that the user looks at, for all views.
void FlameView::focusName(const QString& name) {
  Focus::Part part = models().focus.part();
  part.name = name;
  models().focus.set(std::move(part));
}

void FlameView::fillMenu(QMenu& menu, Node node) {
  const QString name = nameOf(node);
  // While the menu is open, the graph may become that of another part or trace.
  menu.addAction(tr("Zoom to the frame"), this, [this, node, tree = values_.shown] {
    if (values_.shown == tree)
      chart_->zoomTo(node);
  });
  const Place place = placeOf(*values_.shown, node);
  QAction* show = menu.addAction(
      tr("Show the longest in the timeline"), this, [this, place] { emit placeWanted(place); });
  show->setEnabled(place.event.has_value());
  menu.addAction(tr("Callers and callees"), this, [this, name] {
    calls_->chooseName(name);
    calls_->showNeighbours();
  });
  menu.addAction(tr("Show only this in all views"), this, [this, name] { focusName(name); });
  menu.addAction(tr("Mark the name"), this, [this, name] { search(name); });
  menu.addAction(
      tr("Copy the name"), this, [name] { QGuiApplication::clipboard()->setText(name); });
}

void FlameView::openMenu(Node node, const QPoint& globalPos) {
  if (values_.shown == nullptr || node == kRoot)
    return;
  QMenu menu;
  fillMenu(menu, node);
  menu.exec(globalPos);
}

}  // namespace sonde::gui
