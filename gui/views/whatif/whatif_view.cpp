#include "gui/views/whatif/whatif_view.h"

#include "analysis/engine/critical/cause_colours.h"
#include "base/shell_quote.h"
#include "gui/trace/qtext.h"
#include "gui/views/chart/bar_chart.h"
#include "gui/views/chart/lane_chart.h"
#include "gui/views/table/table_panel.h"
#include "gui/views/whatif/plan_panel.h"
#include "gui/views/whatif/question_editor.h"

#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QSplitter>
#include <QTabWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <set>
#include <utility>

namespace sonde::gui {
namespace {

constexpr int kDelayMs = 60;

QColor colorOf(engine::critical::PathCause cause) {
  return {QLatin1String(engine::critical::kCauseColours.at(static_cast<std::size_t>(cause)))};
}

LaneGroup groupOf(const QString& title,
                  const IterationLanes& lanes,
                  const std::vector<LanePart>& parts,
                  std::int64_t endNs) {
  LaneGroup group{title, lanes.lanes, {}, endNs};
  for (const LanePart& part : parts)
    group.spans.push_back({part.lane, part.beginNs, part.endNs, colorOf(part.cause), part.text});
  return group;
}

// `hasAnswer`: both now and then, else only now.
LaneData drawnLanes(const IterationLanes& lanes, bool hasAnswer) {
  LaneData drawn;
  LaneGroup now = groupOf(WhatifView::tr("now"), lanes, lanes.now, lanes.nowNs);
  if (hasAnswer)
    drawn.groups = aboveEachOther(std::move(now),
                                  groupOf(WhatifView::tr("then"), lanes, lanes.then, lanes.thenNs));
  else
    drawn.groups.push_back(std::move(now));
  std::set<engine::critical::PathCause> causes;
  for (const LanePart& part : lanes.now)
    causes.insert(part.cause);
  for (const auto cause : causes)
    drawn.legend.emplace_back(spaced(nameOf(cause)), colorOf(cause));
  return drawn;
}

}  // namespace

WhatifView::WhatifView(TraceModels& models) : Panel(models) {
  auto* halves = new QSplitter(Qt::Horizontal);
  halves->addWidget(buildQuestions());
  halves->addWidget(buildAnswer());
  halves->setStretchFactor(1, 1);
  halves->setSizes({360, 1000});
  setContent(halves);
  connect(&models.document, &TraceDocument::replaced, this, [this] {
    wanted_.clear();
    forget();
  });
  delay_.setSingleShot(true);
  delay_.setInterval(kDelayMs);
  connect(&delay_, &QTimer::timeout, this, &WhatifView::predict);
  connect(&models.focus, &Focus::changed, this, [this] { showLanes(true); });
}

QWidget* WhatifView::buildQuestions() {
  auto* column = new QWidget;
  auto* layout = new QVBoxLayout(column);
  editor_ = new QuestionEditor;
  auto* add = new QPushButton(tr("&Add this change"));
  remove_ = new QPushButton(tr("&Remove"));
  copy_ = new QPushButton(tr("&Copy as a command"));
  list_ = new QListWidget;
  list_->setAccessibleName(tr("Changes that are asked, one after the other"));
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(remove_);
  buttons->addWidget(copy_);
  layout->addWidget(editor_);
  layout->addWidget(add);
  layout->addSpacing(8);
  layout->addWidget(new QLabel(tr("Changes, in the order in which they apply:")));
  layout->addWidget(list_, 1);
  layout->addLayout(buttons);
  column->setFocusProxy(editor_);
  connect(add, &QPushButton::clicked, this, &WhatifView::addEdited);
  connect(remove_, &QPushButton::clicked, this, &WhatifView::removeCurrent);
  connect(copy_, &QPushButton::clicked, this, [this] {
    QGuiApplication::clipboard()->setText(command());
  });
  connect(list_, &QListWidget::currentRowChanged, this, &WhatifView::showCurrent);
  connect(editor_, &QuestionEditor::changed, this, &WhatifView::edit);
  // Another question is a change of its own, not another form of the chosen one.
  connect(editor_, &QuestionEditor::questionChosen, this, [this] { list_->setCurrentRow(-1); });
  return column;
}

QWidget* WhatifView::buildAnswer() {
  auto* column = new QWidget;
  auto* layout = new QVBoxLayout(column);
  headline_ = new QLabel;
  headline_->setTextFormat(Qt::PlainText);
  headline_->setWordWrap(true);
  headline_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  QFont large = headline_->font();
  large.setPointSizeF(large.pointSizeF() * 1.3);
  headline_->setFont(large);
  remarks_ = new QLabel;
  remarks_->setTextFormat(Qt::PlainText);
  remarks_->setWordWrap(true);
  remarks_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  bars_ = new BarChart;
  bars_->setAccessibleName(tr("An iteration by the causes of its critical path"));
  auto* timelines = new QWidget;
  auto* column2 = new QVBoxLayout(timelines);
  column2->setContentsMargins(0, 4, 0, 0);
  iteration_ = new QComboBox;
  iteration_->setAccessibleName(tr("Iteration"));
  iteration_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  left_ = new QLabel;
  lanes_ = new LaneChart;
  lanes_->setAccessibleName(tr("Timelines of the iteration now and then"));
  auto* line = new QHBoxLayout;
  line->addWidget(iteration_);
  line->addWidget(left_, 1);
  column2->addLayout(line);
  column2->addWidget(lanes_, 1);
  auto* path = new TablePanel(path_);
  path->stretch(2);
  plan_ = new PlanPanel(models());
  auto* tabs = new QTabWidget;
  tabs->setDocumentMode(true);
  tabs->addTab(timelines, tr("Timelines"));
  tabs->addTab(path, tr("Critical path"));
  tabs->addTab(plan_, tr("Best settings"));
  layout->addWidget(headline_);
  layout->addWidget(remarks_);
  layout->addWidget(bars_);
  layout->addWidget(tabs, 1);
  connect(iteration_, &QComboBox::currentIndexChanged, this, &WhatifView::readParts);
  connect(path, &TablePanel::opened, this, &WhatifView::placeWanted);
  connect(plan_, &PlanPanel::added, this, &WhatifView::add);
  connect(plan_, &PlanPanel::planWanted, this, &WhatifView::setChanges);
  return column;
}

QString WhatifView::headline() const {
  return headline_->text();
}

QStringList WhatifView::options() const {
  QStringList options;
  for (const AskedChange& each : changes_)
    options << each.option;
  return options;
}

QString WhatifView::command() const {
  return (QStringList(QStringLiteral("sonde whatif")) + traces_ + options()).join(u' ');
}

// The trace is another one.
void WhatifView::forget() {
  delay_.stop();
  trace_.reset();
  answer_.reset();
  parts_.reset();
  changes_.clear();
  traces_.clear();
  plan_->reset(false);
  showChanges(-1);
}

void WhatifView::read() {
  forget();
  for (const QString& path : models().document.paths())
    traces_ << qtext(shellQuoted(path.toStdString()));
  ask(models().once.query<readAsked>(),
      [this](std::shared_ptr<const AskedTrace> trace) { showTrace(std::move(trace)); });
}

void WhatifView::showTrace(std::shared_ptr<const AskedTrace> trace) {
  trace_ = std::move(trace);
  plan_->reset(true);
  const QSignalBlocker blocker(iteration_);
  const QStringList titles = iterationTitles(*trace_);
  iteration_->clear();
  iteration_->addItems(titles);
  iteration_->setCurrentIndex(static_cast<int>(usualIteration(*trace_)));
  readParts();
  predict();
  if (!wanted_.isEmpty())
    take(std::exchange(wanted_, {}));
}

void WhatifView::addEdited() {
  auto change = editor_->ask();
  if (!change) {
    editor_->showError(qtext(change.error().message));
    return;
  }
  add(*change);
}

void WhatifView::add(const AskedChange& change) {
  changes_.push_back(change);
  showChanges(static_cast<int>(changes_.size()) - 1);
  predict();
}

void WhatifView::take(const QString& question) {
  if (trace_ == nullptr) {
    wanted_ = question;
    return;
  }
  const auto filled = filledForm(question);
  const auto change = filled ? questionForms().at(filled->form).ask(filled->values)
                             : Result<AskedChange>(notFound(question.toStdString()));
  if (change)
    setChanges({*change});
  else
    emit refused(tr("%1 cannot be asked here: %2").arg(question, qtext(change.error().message)));
}

void WhatifView::setChanges(const std::vector<AskedChange>& changes) {
  changes_ = changes;
  showChanges(changes_.empty() ? -1 : 0);
  predict();
}

void WhatifView::removeCurrent() {
  const int row = list_->currentRow();
  if (row < 0)
    return;
  changes_.erase(changes_.begin() + row);
  showChanges(std::min(row, static_cast<int>(changes_.size()) - 1));
  predict();
}

// The user changed what the editor shows: the chosen change follows.
void WhatifView::edit() {
  auto change = editor_->ask();
  editor_->showError(change || list_->currentRow() < 0 ? QString() : qtext(change.error().message));
  if (!change || list_->currentRow() < 0)
    return;
  list_->currentItem()->setText(change->option);
  changes_[static_cast<std::size_t>(list_->currentRow())] = *std::move(change);
  setOutdated(true);
  delay_.start();
}

// The editor shows the chosen change.
void WhatifView::showCurrent() {
  const int row = list_->currentRow();
  remove_->setEnabled(row >= 0);
  copy_->setEnabled(!changes_.empty());
  if (row < 0)
    return;
  if (const auto filled = filledForm(changes_[static_cast<std::size_t>(row)].option))
    editor_->show(*filled);
}

void WhatifView::showChanges(int current) {
  const QSignalBlocker blocker(list_);
  list_->clear();
  list_->addItems(options());
  list_->setCurrentRow(current);
  showCurrent();
}

void WhatifView::predict() {
  delay_.stop();
  if (trace_ == nullptr)
    return;
  if (changes_.empty()) {
    models().analyses.cancel(delay_);
    showNothing(
        tr("Choose a question on the left, and add it. Or let Sonde find the best settings."));
    return;
  }
  setOutdated(true);
  std::vector<engine::whatif::Question> questions;
  for (const AskedChange& each : changes_)
    questions.push_back(each.question);
  models().analyses.ask(
      delay_,
      [trace = trace_, questions = std::move(questions)](const store::Database& own) {
        return trace->ask(questions, own.stopCheck());
      },
      [this](Result<engine::whatif::Answer> answer) { show(std::move(answer)); });
}

// The shown answer is one to other questions: it is grey until the new one is there.
void WhatifView::setOutdated(bool outdated) {
  for (QWidget* each : std::initializer_list<QWidget*>{headline_, remarks_, bars_})
    each->setEnabled(!outdated);
}

void WhatifView::showNothing(const QString& headline) {
  setOutdated(false);
  answer_.reset();
  headline_->setText(headline);
  remarks_->clear();
  bars_->show({});
  bars_->hide();
  path_.show({});
  showLanes(false);
}

void WhatifView::show(Result<engine::whatif::Answer> answer) {
  if (!answer) {
    showNothing(qtext(answer.error().message));
    return;
  }
  setOutdated(false);
  const bool isFirst = answer_ == nullptr;
  answer_ = std::make_shared<const engine::whatif::Answer>(*std::move(answer));
  headline_->setText(headlineOf(*answer_));
  remarks_->setText(remarksOf(*answer_).join(u'\n'));
  path_.show(changedPathRows(*answer_));
  showBars();
  showLanes(!isFirst);
}

void WhatifView::showBars() {
  BarData chart;
  Bar now{tr("now"), {}};
  Bar then{tr("then"), {}};
  for (const CauseTime& each : causeTimes(*answer_)) {
    chart.parts.push_back({spaced(nameOf(each.cause)), colorOf(each.cause)});
    now.values.push_back(each.nowNs);
    then.values.push_back(each.thenNs);
  }
  then.low = answer_->lowNs;
  then.high = answer_->highNs;
  chart.bars = {std::move(now), std::move(then)};
  bars_->show(std::move(chart));
  bars_->setFixedHeight(bars_->sizeHint().height());
  bars_->setVisible(true);
}

void WhatifView::readParts() {
  parts_.reset();
  left_->clear();
  if (trace_ == nullptr || iteration_->currentIndex() < 0)
    return;
  models().analyses.ask(
      reading_,
      [trace = trace_, iteration = static_cast<std::size_t>(iteration_->currentIndex())](
          const store::Database&) { return iterationParts(*trace, iteration); },
      [this](Result<IterationParts> parts) {
        if (parts)
          parts_ = std::make_shared<const IterationParts>(*std::move(parts));
        if (parts_ != nullptr && parts_->left > 0)
          left_->setText(tr("the longest %L1 parts; %L2 shorter ones are not drawn")
                             .arg(parts_->parts.size())
                             .arg(parts_->left));
        showLanes(false);
      });
}

// Without an answer there is only the measured iteration.
void WhatifView::showLanes(bool keepRange) {
  if (trace_ == nullptr || parts_ == nullptr) {
    models().analyses.cancel(drawing_);
    lanes_->show({}, false);
    return;
  }
  const LanesRequest request{static_cast<std::size_t>(iteration_->currentIndex()),
                             models().focus.part().rank};
  models().analyses.ask(
      drawing_,
      [trace = trace_, request, parts = parts_, answer = answer_](const store::Database&) {
        return Result(
            drawnLanes(lanesOf(*trace, request, parts->parts, answer.get()), answer != nullptr));
      },
      [this, keepRange](Result<LaneData> drawn) { lanes_->show(*std::move(drawn), keepRange); });
}

}  // namespace sonde::gui
