#include "gui/views/flame/call_pane.h"

#include "gui/trace/qtext.h"
#include "gui/views/table/table_panel.h"

#include <QHeaderView>
#include <QLabel>
#include <QScrollBar>
#include <QSplitter>
#include <QTableView>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>

namespace sonde::gui {

namespace {

constexpr int kNeighbours = 1;  // tab
constexpr int kIndentation = 10;

}  // namespace

using engine::callpaths::kRoot;

CallPane::CallPane(QWidget* parent) : QTabWidget(parent) {
  setDocumentMode(true);
  addTab(makeTree(), tr("Call tree"));
  addTab(makeNeighbours(), tr("Callers and callees"));
  // Lists that nobody sees are not filled.
  connect(this, &QTabWidget::currentChanged, this, [this] { chooseName(QString(name_)); });
}

QWidget* CallPane::makeTree() {
  treeView_ = new QTreeView;
  treeView_->setModel(&tree_);
  treeView_->setAccessibleName(tr("Call tree"));
  treeView_->setUniformRowHeights(true);
  treeView_->setAlternatingRowColors(true);
  treeView_->setIndentation(kIndentation);
  treeView_->setFrameShape(QFrame::NoFrame);
  treeView_->setSortingEnabled(true);
  treeView_->sortByColumn(CallTreeModel::Total, Qt::DescendingOrder);
  treeView_->setExpandsOnDoubleClick(false);
  treeView_->setContextMenuPolicy(Qt::CustomContextMenu);
  // The name comes last: it may need any width, since stacks are deep.
  QHeaderView* header = treeView_->header();
  header->moveSection(CallTreeModel::Name, CallTreeModel::ColumnCount - 1);
  header->setStretchLastSection(false);
  header->setSectionResizeMode(CallTreeModel::Name, QHeaderView::ResizeToContents);
  for (int column = CallTreeModel::Total; column < CallTreeModel::ColumnCount; ++column)
    header->resizeSection(column, fontMetrics().horizontalAdvance(QStringLiteral("00.00 ms")) + 14);
  connect(treeView_->selectionModel(),
          &QItemSelectionModel::currentChanged,
          this,
          [this](const QModelIndex& now) {
            if (now.isValid())
              emit currentChanged(CallTreeModel::nodeOf(now));
          });
  connect(treeView_, &QTreeView::activated, this, [this](const QModelIndex& index) {
    emit zoomWanted(CallTreeModel::nodeOf(index));
  });
  connect(treeView_, &QWidget::customContextMenuRequested, this, [this](const QPoint& at) {
    if (const QModelIndex index = treeView_->indexAt(at); index.isValid())
      emit menuWanted(CallTreeModel::nodeOf(index), treeView_->viewport()->mapToGlobal(at));
  });
  return treeView_;
}

QWidget* CallPane::makeNeighbours() {
  auto* parts = new QSplitter(Qt::Vertical);
  namesPanel_ = new TablePanel(names_);
  namesPanel_->setAccessibleName(tr("Names"));
  parts->addWidget(namesPanel_);
  auto* chosen = new QWidget;
  auto* layout = new QVBoxLayout(chosen);
  layout->setContentsMargins(4, 4, 0, 0);
  chosen_ = new QLabel;
  chosen_->setTextFormat(Qt::PlainText);
  chosen_->setMinimumWidth(1);
  layout->addWidget(chosen_);
  layout->addWidget(neighbourTable(callers_), 1);
  layout->addWidget(neighbourTable(callees_), 1);
  parts->addWidget(chosen);
  parts->setSizes({1000, 1000});
  connect(namesPanel_, &TablePanel::currentRowChanged, this, [this](int row) {
    chooseName(names_.rows().at(static_cast<std::size_t>(row)).place.name);
  });
  connect(namesPanel_, &TablePanel::opened, this, &CallPane::placeWanted);
  return parts;
}

// A double click moves on to the caller or callee.
TablePanel* CallPane::neighbourTable(ValueTable& table) {
  auto* panel = new TablePanel(table, TablePanel::Filter::None);
  panel->setAccessibleName(table.columns().front().title);
  connect(panel, &TablePanel::opened, this, [this](const Place& place) {
    if (!place.name.isEmpty())
      chooseName(QString(place.name));
  });
  return panel;
}

void CallPane::show(const FlameValues& values) {
  paths_ = values.paths;
  unit_ = unitOf(values.source);
  tree_.show(values.shown, unit_);
  if (values.shown->childCount[kRoot] > 0 && values.shown->childCount[kRoot] <= 2)
    treeView_->expandToDepth(1);
  names_.show(nameColumns(unit_), nameRows(values));
  chooseName(name_);
}

void CallPane::clear() {
  paths_.reset();
  tree_.show(nullptr, unit_);
  names_.show(nameColumns(unit_), {});
  chooseName({});
}

void CallPane::setCurrent(Node node) {
  if (node == kRoot || tree_.tree() == nullptr)
    return;
  const QModelIndex index = tree_.indexOf(node);
  treeView_->setCurrentIndex(index);
  treeView_->scrollTo(index);
  treeView_->horizontalScrollBar()->setValue(0);
  chooseName(index.data(ValueTable::kValueRole).toString());
}

void CallPane::chooseName(const QString& name) {
  name_ = name;
  if (currentIndex() == kNeighbours)
    fillNeighbours();
}

void CallPane::fillNeighbours() {
  std::vector<ValueRow> callers;
  std::vector<ValueRow> callees;
  QString text = tr("Choose a name above, or a frame");
  if (paths_ != nullptr && !name_.isEmpty()) {
    const auto& texts = paths_->texts;
    const auto found = std::find(texts.begin(), texts.end(), name_.toStdString());
    if (found != texts.end()) {
      const auto near = engine::callpaths::neighboursOf(
          *paths_, static_cast<engine::callpaths::CallName>(found - texts.begin()));
      callers = neighbourRows(*paths_, near.time, near.callers);
      callees = neighbourRows(*paths_, near.time, near.callees);
      text = tr("%1: %2, %3 itself, %L4 times")
                 .arg(name_,
                      numberText(static_cast<double>(near.time.totalNs), unit_),
                      numberText(static_cast<double>(near.time.selfNs), unit_))
                 .arg(near.time.count);
    }
  }
  chosen_->setText(text);
  callers_.show(neighbourColumns(tr("callers"), unit_), std::move(callers));
  callees_.show(neighbourColumns(tr("callees"), unit_), std::move(callees));
  selectName();
}

// Moves the table of names to the chosen one.
void CallPane::selectName() {
  const QAbstractItemModel& shown = *namesPanel_->view().model();
  for (int row = 0; row < shown.rowCount(); ++row)
    if (const QModelIndex index = shown.index(row, 0); index.data().toString() == name_) {
      const QSignalBlocker blocker(namesPanel_);
      namesPanel_->view().setCurrentIndex(index);
      return;
    }
}

void CallPane::showNeighbours() {
  setCurrentIndex(kNeighbours);
}

}  // namespace sonde::gui
