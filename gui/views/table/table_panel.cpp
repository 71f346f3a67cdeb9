#include "gui/views/table/table_panel.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace sonde::gui {

TablePanel::TablePanel(ValueTable& table, Filter filter, QWidget* parent)
    : QWidget(parent), table_(table) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  shown_.setSourceModel(&table_);
  if (filter == Filter::Line) {
    text_ = new QLineEdit;
    text_->setPlaceholderText(tr("Filter rows: words that a row must contain"));
    text_->setAccessibleName(tr("Filter rows"));
    text_->setClearButtonEnabled(true);
    connect(text_, &QLineEdit::textChanged, &shown_, &RowFilter::setText);
    layout->addWidget(text_);
  }
  limits_ = new QLabel;
  limits_->setObjectName(QStringLiteral("limits"));
  limits_->setContentsMargins(4, 2, 4, 2);
  limits_->setTextFormat(Qt::RichText);
  limits_->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
  limits_->hide();
  connect(limits_, &QLabel::linkActivated, this, &TablePanel::allWanted);
  layout->addWidget(limits_);
  view_ = new QTableView;
  view_->setModel(&shown_);
  view_->setSortingEnabled(true);
  view_->sortByColumn(-1, Qt::AscendingOrder);  // as the table is, until the user sorts it
  view_->setSelectionBehavior(QAbstractItemView::SelectRows);
  view_->setAlternatingRowColors(true);
  view_->setShowGrid(false);
  view_->setWordWrap(false);
  view_->setFrameShape(QFrame::NoFrame);
  view_->setTabKeyNavigation(false);
  view_->verticalHeader()->hide();
  view_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
  view_->horizontalHeader()->setHighlightSections(false);
  stretch(0);
  layout->addWidget(view_, 1);
  setFocusProxy(view_);
  connect(view_->selectionModel(),
          &QItemSelectionModel::currentRowChanged,
          this,
          [this](const QModelIndex& now) {
            if (now.isValid())
              emit currentRowChanged(rowAt(now));
          });
  connect(view_, &QTableView::activated, this, [this](const QModelIndex& index) {
    emit opened(table_.rows().at(static_cast<std::size_t>(rowAt(index))).place);
  });
  connect(&table_, &QAbstractItemModel::modelReset, this, &TablePanel::fitColumns);
  connect(&table_, &QAbstractItemModel::modelReset, this, &TablePanel::showLimits);
  buildMenu();
}

// Each column is as wide as its content, within limits; the stretched one takes the rest. The
// widest column leaves it at least as much room as it has itself. If that is little, the table is
// wider than its window.
void TablePanel::fitColumns() {
  constexpr int kWidest = 320;
  constexpr int kLeast = 160;
  const QAbstractItemView& view = *view_;
  QHeaderView* header = view_->horizontalHeader();
  int room = view_->viewport()->width();
  int wanted = 0;
  int widest = -1;
  for (int column = 0; column < header->count(); ++column) {
    const int content =
        std::max(view.sizeHintForColumn(column) + 8, header->sectionSizeHint(column));
    if (column == stretched_) {
      wanted = content;
      continue;
    }
    header->resizeSection(column, std::min(content, kWidest));
    room -= header->sectionSize(column);
    if (widest < 0 || header->sectionSize(column) > header->sectionSize(widest))
      widest = column;
  }
  if (widest >= 0 && room < wanted) {
    const int both = room + header->sectionSize(widest);
    const int kept =
        std::min(std::max({both / 2, both - wanted, kLeast}), header->sectionSize(widest));
    room = both - kept;
    header->resizeSection(widest, kept);
  }
  if (stretched_ >= header->count())
    return;
  const bool isTight = room < std::min(wanted, kLeast);
  header->setSectionResizeMode(stretched_,
                               isTight ? QHeaderView::Interactive : QHeaderView::Stretch);
  if (isTight)
    header->resizeSection(stretched_, std::min(wanted, kLeast));
}

void TablePanel::buildMenu() {
  const auto add = [this](const QString& text, QString (*write)(const QAbstractItemModel&)) {
    auto* action = new QAction(text, view_);
    connect(action, &QAction::triggered, this, [this, write] {
      QGuiApplication::clipboard()->setText(write(shown_));
    });
    view_->addAction(action);
  };
  auto* only = new QAction(tr("Show only this in all views"), view_);
  connect(only, &QAction::triggered, this, [this] {
    const QModelIndex current = view_->currentIndex();
    if (!current.isValid())
      return;
    const Place& place = table_.rows().at(static_cast<std::size_t>(rowAt(current))).place;
    if (place.rank || !place.operation.isEmpty() || !place.name.isEmpty())
      emit partWanted(place);
  });
  view_->addAction(only);
  add(tr("Copy the table as CSV"), toCsv);
  add(tr("Copy the table as Markdown"), toMarkdown);
  view_->setContextMenuPolicy(Qt::ActionsContextMenu);
}

void TablePanel::setPart(const Focus::Part& part) {
  shown_.setPart(part);
  showLimits();
}

QString TablePanel::limits() const {
  const int all = table_.rowCount({});
  const int ofPart = shown_.rowsOfPart();
  return ofPart == all
             ? QString()
             : tr("%L1 of %L2 rows: limited to %3").arg(ofPart).arg(all).arg(textOf(shown_.part()));
}

void TablePanel::showLimits() {
  const QString limits = this->limits();
  limits_->setText(
      QStringLiteral("%1 · <a href=\"all\">%2</a>").arg(limits.toHtmlEscaped(), tr("Show all")));
  limits_->setVisible(!limits.isEmpty());
}

void TablePanel::sortBy(int column, Qt::SortOrder order) {
  view_->sortByColumn(column, order);
}

void TablePanel::selectRow(int row) {
  const QModelIndex index = shown_.mapFromSource(table_.index(row, 0));
  if (!index.isValid())
    return;
  view_->selectRow(index.row());
  view_->scrollTo(index);
}

void TablePanel::stretch(int column) {
  stretched_ = column;
  view_->horizontalHeader()->setSectionResizeMode(QHeaderView::Interactive);
  fitColumns();
}

// In the ValueTable. Requires: the index is valid.
int TablePanel::rowAt(const QModelIndex& index) const {
  return shown_.mapToSource(index).row();
}

}  // namespace sonde::gui
