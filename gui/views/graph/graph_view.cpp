#include "gui/views/graph/graph_view.h"

#include "gui/trace/qtext.h"
#include "gui/trace/time_format.h"
#include "gui/views/table/table_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include <utility>

namespace sonde::gui {

GraphView::GraphView(TraceModels& models) : Panel(models) {
  auto* page = new QWidget;
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(8, 8, 8, 0);
  note_ = new QLabel;
  note_->setWordWrap(true);
  inTimeline_ = new QCheckBox(tr("Draw the paths over the timeline"));
  layout->addWidget(inTimeline_);
  layout->addWidget(note_);
  iteration_ = new QComboBox;
  iteration_->setAccessibleName(tr("Iteration"));
  iteration_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  auto* left = new QSplitter(Qt::Vertical);
  partsPanel_ = tableOf(parts_, 3);
  left->addWidget(titled(partsPanel_, tr("Critical path of"), iteration_));
  left->addWidget(buildNeighbours());
  left->setSizes({2000, 1000});
  auto* right = new QSplitter(Qt::Vertical);
  right->addWidget(titled(tableOf(shares_, 2), tr("All iterations")));
  right->addWidget(titled(tableOf(slacks_, 0), tr("Slack of threads and streams")));
  right->setSizes({2000, 1000});
  auto* halves = new QSplitter(Qt::Horizontal);
  halves->addWidget(left);
  halves->addWidget(right);
  halves->setSizes({1000, 1000});
  layout->addWidget(halves, 1);
  setContent(page);
  connect(iteration_, &QComboBox::currentIndexChanged, this, &GraphView::showParts);
  connect(partsPanel_, &TablePanel::currentRowChanged, this, &GraphView::choosePart);
  connect(inTimeline_, &QCheckBox::toggled, this, &GraphView::draw);
  connect(&models.document, &TraceDocument::replaced, this, [this] {
    clear();
    this->models().path.clear();
    inTimeline_->setChecked(false);
  });
}

TablePanel* GraphView::tableOf(ValueTable& table, int stretch) {
  auto* rows = new TablePanel(table);
  rows->stretch(stretch);
  connect(rows, &TablePanel::opened, this, &GraphView::placeWanted);
  return rows;
}

QWidget* GraphView::titled(TablePanel* rows, const QString& title, QWidget* beside) {
  auto* whole = new QWidget;
  auto* layout = new QVBoxLayout(whole);
  layout->setContentsMargins(0, 0, 0, 0);
  auto* heading = new QHBoxLayout;
  auto* text = new QLabel(title);
  QFont bold = text->font();
  bold.setBold(true);
  text->setFont(bold);
  heading->addWidget(text);
  if (beside != nullptr)
    heading->addWidget(beside);
  heading->addStretch(1);
  layout->addLayout(heading);
  rows->setAccessibleName(title);
  layout->addWidget(rows, 1);
  return whole;
}

QWidget* GraphView::buildNeighbours() {
  auto* beside = new QWidget;
  auto* line = new QHBoxLayout(beside);
  line->setContentsMargins(0, 0, 0, 0);
  centreText_ = new QLabel;
  centreText_->setTextFormat(Qt::PlainText);
  goTo_ = new QPushButton(tr("&Go to it"));
  goTo_->setToolTip(tr("Shows the neighbourhood of the chosen neighbour"));
  goTo_->setEnabled(false);
  line->addWidget(goTo_);
  line->addWidget(centreText_);
  TablePanel* rows = tableOf(neighbours_, 2);
  connect(rows, &TablePanel::currentRowChanged, goTo_, [this] { goTo_->setEnabled(true); });
  connect(goTo_, &QPushButton::clicked, this, [this, rows] {
    const QModelIndex current = rows->view().currentIndex();
    if (current.isValid())
      goTo(rows->shown().mapToSource(current).row());
  });
  return titled(rows, tr("Neighbourhood"), beside);
}

void GraphView::choosePart(int row) {
  const int path = iteration_->currentIndex();
  if (job_ != nullptr && path >= 0)
    showNeighbours(
        partNodes(*job_, static_cast<std::size_t>(path)).at(static_cast<std::size_t>(row)));
}

void GraphView::goTo(int row) {
  if (job_ != nullptr)
    showNeighbours(neighbourNodes_.at(static_cast<std::size_t>(row)));
}

void GraphView::showNeighbours(engine::graph::NodeIndex node) {
  const engine::graph::Graph& graph = job_->job.trace.graph;
  centre_ = node;
  centreText_->setText(nodeText(graph, node));
  goTo_->setEnabled(false);
  neighbours_.show(neighbourRows(graph, node, neighbourNodes_));
}

void GraphView::choose(int path) {
  iteration_->setCurrentIndex(path);
}

void GraphView::showInTimeline(bool wanted) {
  inTimeline_->setChecked(wanted);
}

bool GraphView::isInTimeline() const {
  return inTimeline_->isChecked();
}

void GraphView::draw() {
  if (!inTimeline_->isChecked()) {
    models().path.clear();
    return;
  }
  if (!models().document.ready())
    return;
  models().analyses.ask(drawing_,
                        models().once.query<readPaths>(),
                        [this](const Result<std::shared_ptr<const JobPaths>>& job) {
                          if (job && inTimeline_->isChecked())
                            models().path.show(overlayOf(**job, models().document.skeleton()));
                          else if (!job)
                            refuse(qtext(job.error().message));
                        });
}

void GraphView::refuse(const QString& message) {
  inTimeline_->setChecked(false);
  emit refused(tr("There is no critical path to draw: %1").arg(message));
}

void GraphView::clear() {
  job_.reset();
  shares_.show({});
  slacks_.show({});
  showParts();
  goTo_->setEnabled(false);
}

void GraphView::read() {
  ask(models().once.query<readPaths>(),
      [this](std::shared_ptr<const JobPaths> job) { show(std::move(job)); });
}

void GraphView::show(std::shared_ptr<const JobPaths> job) {
  job_ = std::move(job);
  const QSignalBlocker blocker(iteration_);
  iteration_->clear();
  for (const auto& path : job_->paths)
    iteration_->addItem(titleOf(path));
  iteration_->setCurrentIndex(usualPath(*job_));
  shares_.show(shareRows(*job_));
  slacks_.show(slackRows(*job_));
  showParts();
  QStringList notes;
  for (const auto& straggler : job_->job.stragglers)
    notes << tr("Rank %1 makes the job slow: %2 of an iteration (%3 %), most of it in %4.")
                 .arg(straggler.rank)
                 .arg(formatDuration(straggler.ns))
                 .arg(100 * straggler.share, 0, 'f', 1)
                 .arg(qtext(straggler.operation));
  for (const auto& check : job_->job.trace.checks)
    if (check.violations > 0)
      notes << tr("%1: %L2").arg(qtext(check.text)).arg(check.violations);
  note_->setText(notes.join(u'\n'));
  note_->setVisible(!notes.isEmpty());
}

void GraphView::showParts() {
  centre_.reset();
  centreText_->clear();
  neighbours_.show({});
  const int path = iteration_->currentIndex();
  if (job_ == nullptr || path < 0) {
    parts_.show({});
    return;
  }
  parts_.show(partRows(*job_, static_cast<std::size_t>(path)));
  partsPanel_->selectRow(longestPart(*job_, static_cast<std::size_t>(path)));
}

}  // namespace sonde::gui
