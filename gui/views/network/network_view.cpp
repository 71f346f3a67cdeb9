#include "gui/views/network/network_view.h"

#include "gui/views/chart/heat_map.h"
#include "gui/views/section.h"
#include "gui/views/table/table_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSplitter>
#include <QVBoxLayout>

#include <utility>

namespace sonde::gui {

NetworkView::NetworkView(TraceModels& models) : Panel(models) {
  auto* links = new TablePanel(links_);
  links->stretch(1);
  auto* collectives = new TablePanel(communicators_);
  collectives->stretch(10);
  map_ = new HeatMap;
  upper_ = new QSplitter(Qt::Horizontal);
  upper_->addWidget(new Section(tr("Senders (rows) by receivers (columns)"), map_));
  upper_->addWidget(new Section(tr("Links"), links));
  upper_->setSizes({1000, 1200});
  auto* halves = new QSplitter(Qt::Vertical);
  halves->addWidget(upper_);
  halves->addWidget(new Section(tr("Collectives by communicator"), collectives));
  halves->setSizes({1400, 900});
  auto* page = new QWidget;
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(8, 8, 8, 0);
  layout->addLayout(buildLine());
  layout->addWidget(halves, 1);
  page->setFocusProxy(links);
  setContent(page);
  connect(value_, &QComboBox::currentIndexChanged, this, &NetworkView::show);
  connect(map_, &HeatMap::clicked, this, &NetworkView::chooseCell);
  connect(map_, &HeatMap::doubleClicked, this, &NetworkView::openCell);
  connect(links, &TablePanel::opened, this, &NetworkView::placeWanted);
  followTime();
  connect(collectives, &TablePanel::opened, this, &NetworkView::placeWanted);
}

QLayout* NetworkView::buildLine() {
  auto* line = new QHBoxLayout;
  value_ = new QComboBox;
  value_->setAccessibleName(tr("Value of the matrix"));
  for (const LinkValue value :
       {LinkValue::Bytes, LinkValue::Messages, LinkValue::Time, LinkValue::Bandwidth})
    value_->addItem(titleOf(value), static_cast<int>(value));
  note_ = new QLabel;
  note_->setWordWrap(true);
  line->addWidget(value_);
  line->addSpacing(16);
  line->addWidget(note_, 1);
  return line;
}

void NetworkView::choose(LinkValue value) {
  value_->setCurrentIndex(value_->findData(static_cast<int>(value)));
}

QString NetworkView::note() const {
  return note_->text();
}

void NetworkView::read() {
  only_.reset();
  ask([within = models().view.selectedTime()](
          const store::Database& trace) { return readNetwork(trace, within); },
      [this](std::shared_ptr<const NetworkValues> values) {
        values_ = std::move(values);
        show();
      });
}

void NetworkView::show() {
  if (values_ == nullptr)
    return;
  if (values_->links.links.empty() && values_->communicators.empty()) {
    const QString none =
        models().view.area()
            ? tr("The selected span has no messages between processes, and no collectives. Click "
                 "it in the tool bar to see the whole trace.")
            : tr("The trace has no messages between processes, and no collectives.");
    showMessage(
        none +
        tr(" sonde run records sockets, pipes, MPI, NCCL and Gloo by default (sources net, mpi, "
           "nccl, gloo). Join the traces of all ranks with sonde merge to see both ends."));
    return;
  }
  upper_->setVisible(!values_->links.links.empty());
  value_->setVisible(!values_->links.links.empty());
  matrix_ = linkMatrix(values_->links, static_cast<LinkValue>(value_->currentData().toInt()));
  map_->show({tr("from"), tr("to"), matrix_.names, matrix_.names, matrix_.values, matrix_.unit});
  communicators_.show(communicatorRows(*values_));
  showLinks();
}

void NetworkView::showLinks() {
  links_.show(linkRows(values_->links, only_));
  if (values_->links.links.empty())
    note_->setText(
        models().view.area()
            ? tr("Collectives that overlap the selected span, as a whole. It has no messages.")
            : tr("No messages were recorded: only collectives. Sources net, mpi and "
                 "nccl record them."));
  else if (only_)
    note_->setText(tr("The table shows this cell. Click it again to see all links."));
  else
    note_->setText((models().view.area()
                        ? tr("Messages and collectives that overlap the selected span, as a "
                             "whole. ")
                        : QString()) +
                   tr("A click on a cell shows its links, a double click its longest message."));
}

void NetworkView::chooseCell(std::size_t row, std::size_t column) {
  const LinkPair cell{matrix_.ends.at(row), matrix_.ends.at(column)};
  only_ = only_ == cell ? std::nullopt : std::optional(cell);
  showLinks();
}

void NetworkView::openCell(std::size_t row, std::size_t column) {
  const auto rows =
      linkRows(values_->links, LinkPair{matrix_.ends.at(row), matrix_.ends.at(column)});
  const ValueRow* longest = nullptr;
  for (const ValueRow& each : rows)
    if (each.place.span &&
        (longest == nullptr || each.place.span->durNs() > longest->place.span->durNs()))
      longest = &each;
  if (longest != nullptr)
    emit placeWanted(longest->place);
}

}  // namespace sonde::gui
