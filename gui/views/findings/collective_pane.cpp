#include "gui/views/findings/collective_pane.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QTableView>
#include <QVBoxLayout>

#include <utility>

namespace sonde::gui {
namespace {

constexpr int kMinColumn = 30;

QWidget* legend() {
  using State = CollectiveMatrix::State;
  auto* legend = new QWidget;
  auto* line = new QHBoxLayout(legend);
  line->setContentsMargins(0, 0, 0, 0);
  for (const State state : {State::Done, State::Waiting, State::NotEntered, State::Unknown}) {
    auto* sign = new QLabel(CollectiveMatrix::signOf(state));
    sign->setAlignment(Qt::AlignCenter);
    sign->setFixedWidth(22);
    sign->setStyleSheet(
        QStringLiteral("background: %1; color: %2")
            .arg(CollectiveMatrix::colorOf(state).name(),
                 state == State::NotEntered ? QStringLiteral("white") : QStringLiteral("black")));
    line->addWidget(sign);
    line->addWidget(new QLabel(CollectiveMatrix::wordOf(state)));
    line->addSpacing(12);
  }
  line->addStretch(1);
  return legend;
}

}  // namespace

CollectivePane::CollectivePane(QWidget* parent) : QWidget(parent) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 6, 0, 0);
  title_ = new QLabel;
  title_->setWordWrap(true);
  view_ = new QTableView;
  view_->setModel(&matrix_);
  view_->setAccessibleName(tr("Collectives by rank"));
  view_->setSelectionMode(QAbstractItemView::SingleSelection);
  view_->horizontalHeader()->setMinimumSectionSize(kMinColumn);
  view_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  layout->addWidget(title_);
  layout->addWidget(legend());
  layout->addWidget(view_, 1);
  chosen_ = new QLabel;
  chosen_->setTextFormat(Qt::PlainText);
  chosen_->setWordWrap(true);
  layout->addWidget(chosen_);
  hide();
  connect(view_, &QTableView::clicked, this, &CollectivePane::choose);
}

QString CollectivePane::chosen() const {
  return chosen_->text();
}

void CollectivePane::choose(const QModelIndex& index) {
  const auto place = matrix_.placeOf(index);
  chosen_->setText(place ? matrix_.textOf(index)
                         : tr("%1. The trace has no event of it to show in the timeline.")
                               .arg(matrix_.textOf(index)));
  if (place)
    emit placeWanted(*place);
}

void CollectivePane::show(std::optional<CollectiveMatrix::States> states) {
  matrix_.show(std::move(states));
  chosen_->clear();
  const auto& shown = matrix_.states();
  setVisible(shown.has_value());
  if (!shown)
    return;
  title_->setText(tr("The last %1 collectives of the group %2. A click shows a rank's call in the "
                     "timeline.")
                      .arg(shown->columns.size())
                      .arg(matrix_.group().left(80)));
  view_->resizeColumnsToContents();
  view_->scrollTo(matrix_.index(0, matrix_.columnCount({}) - 1));
}

}  // namespace sonde::gui
