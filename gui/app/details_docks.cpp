#include "gui/app/details_docks.h"

#include "gui/trace/time_format.h"

#include <QDockWidget>
#include <QHeaderView>
#include <QMainWindow>
#include <QTableView>
#include <QTreeView>

#include <utility>
#include <vector>

namespace sonde::gui {
namespace {

constexpr int kDetailsWidth = 430;
constexpr int kTotalsHeight = 200;

}  // namespace

DetailsDocks::DetailsDocks(QMainWindow& window, TraceModels& models)
    : QObject(&window), window_(window), models_(models) {
  buildDetails(window);
  buildTotals(window);
  connect(&models.document, &TraceDocument::replaced, this, &DetailsDocks::clear);
  connect(&models.selection, &Selection::detailsChanged, this, &DetailsDocks::showDetails);
  connect(&models.selection, &Selection::changed, this, [this] {
    if (models_.selection.ref())
      return;
    details_.clear();
    showDocks();
  });
  connect(&models.correction, &EventCorrection::changed, this, [this] {
    if (models_.selection.details())
      fillDetails();
  });
  connect(&models.totals, &SpanTotals::changed, this, &DetailsDocks::showTotals);
}

void DetailsDocks::buildDetails(QMainWindow& window) {
  detailsTree_ = new QTreeView;
  detailsTree_->setModel(&details_);
  detailsTree_->setUniformRowHeights(true);
  detailsTree_->setAlternatingRowColors(true);
  detailsTree_->setIndentation(12);
  detailsTree_->header()->setSectionResizeMode(0, QHeaderView::Interactive);
  detailsTree_->header()->resizeSection(0, 160);
  detailsTree_->header()->setStretchLastSection(true);
  detailsDock_ = new QDockWidget(tr("Details"));
  detailsDock_->setObjectName(QStringLiteral("details"));
  detailsDock_->setWidget(detailsTree_);
  window.addDockWidget(Qt::RightDockWidgetArea, detailsDock_);
  detailsDock_->hide();
}

void DetailsDocks::buildTotals(QMainWindow& window) {
  totalsTable_ = new QTableView;
  totalsTable_->setModel(&totals_);
  totalsTable_->setSortingEnabled(true);
  totalsTable_->sortByColumn(SpanModel::Total, Qt::DescendingOrder);
  totalsTable_->setSelectionBehavior(QAbstractItemView::SelectRows);
  totalsTable_->setAlternatingRowColors(true);
  totalsTable_->setShowGrid(false);
  totalsTable_->verticalHeader()->hide();
  totalsTable_->verticalHeader()->setDefaultSectionSize(window.fontMetrics().height() + 6);
  totalsTable_->horizontalHeader()->setSectionResizeMode(SpanModel::Name, QHeaderView::Stretch);
  totalsTable_->horizontalHeader()->resizeSection(SpanModel::What, 160);
  totalsDock_ = new QDockWidget(tr("Selected span"));
  totalsDock_->setObjectName(QStringLiteral("span"));
  totalsDock_->setWidget(totalsTable_);
  window.addDockWidget(Qt::BottomDockWidgetArea, totalsDock_);
  totalsDock_->hide();
}

void DetailsDocks::showDetails() {
  fillDetails();
  showDocks();
}

void DetailsDocks::showDocks() {
  show(*detailsDock_, models_.selection.details().has_value(), kDetailsWidth, Qt::Horizontal);
  show(*totalsDock_, !models_.totals.rows().empty(), kTotalsHeight, Qt::Vertical);
}

// A hidden dock has no size, so that it gets its first one when it is first shown.
void DetailsDocks::show(QDockWidget& dock, bool hasContent, int size, Qt::Orientation orientation) {
  const bool isShown = hasContent && isWanted_ && isTimelineShown_;
  dock.setVisible(isShown);
  if (!isShown || sized_.contains(&dock))
    return;
  window_.resizeDocks({&dock}, {size}, orientation);
  sized_.insert(&dock);
}

// The cost of recording comes behind the event itself, once it is known.
void DetailsDocks::fillDetails() {
  std::vector<DetailsSection> sections = models_.selection.details()->sections;
  if (const auto& cost = models_.correction.section())
    sections.insert(sections.empty() ? sections.end() : sections.begin() + 1, *cost);
  details_.show(std::move(sections));
  detailsTree_->expandAll();
  for (int row = 0; row < details_.rowCount({}); ++row)
    detailsTree_->setFirstColumnSpanned(row, {}, true);
}

void DetailsDocks::showTotals() {
  showDocks();
  if (models_.totals.rows().empty())
    return;
  totals_.show(models_.totals.rows(), models_.totals.spanNs());
  totalsTable_->sortByColumn(SpanModel::Total, Qt::DescendingOrder);
  QString title = tr("Selected span  ·  %1").arg(formatDuration(models_.totals.spanNs()));
  if (models_.times.correction() != nullptr)
    title += tr("  ·  corrected times");
  totalsDock_->setWindowTitle(title);
}

void DetailsDocks::toggle() {
  isWanted_ = !isWanted_;
  showDocks();
}

void DetailsDocks::setTimelineShown(bool isShown) {
  isTimelineShown_ = isShown;
  showDocks();
}

void DetailsDocks::clear() {
  if (models_.document.isContinued())
    return;  // the same event, as it is now, follows
  details_.clear();
  detailsDock_->hide();
  totalsDock_->hide();
}

}  // namespace sonde::gui
