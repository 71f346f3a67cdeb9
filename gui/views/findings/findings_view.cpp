#include "gui/views/findings/findings_view.h"

#include "gui/models/overview/overview_values.h"
#include "gui/views/table/table_panel.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSplitter>
#include <QTableView>
#include <QTextBrowser>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace sonde::gui {

FindingsView::FindingsView(TraceModels& models) : Panel(models) {
  auto* page = new QWidget;
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(8, 8, 8, 0);
  auto* line = new QHBoxLayout;
  all_ = new QCheckBox(tr("also rules that found no fault"));
  state_ = new QLabel;
  line->addWidget(all_);
  line->addSpacing(16);
  line->addWidget(state_, 1);
  layout->addLayout(line);
  auto* halves = new QSplitter(Qt::Horizontal);
  rows_ = new TablePanel(table_);
  rows_->stretch(4);
  page_ = new QTextBrowser;
  page_->setOpenLinks(false);
  page_->setAccessibleName(tr("The finding in full"));
  halves->addWidget(rows_);
  halves->addWidget(page_);
  halves->setSizes({3000, 2000});
  layout->addWidget(halves, 1);
  page->setFocusProxy(rows_);
  setContent(page);
  connect(all_, &QCheckBox::toggled, this, &FindingsView::show);
  connect(rows_, &TablePanel::opened, this, &FindingsView::placeWanted);
  connect(rows_, &TablePanel::currentRowChanged, this, &FindingsView::showPage);
}

QString FindingsView::page() const {
  return page_->toPlainText();
}

void FindingsView::read() {
  check_.reset();
  shown_.clear();
  table_.show({});
  page_->clear();
  ask(models().once.query<readFindings>(), [this](std::shared_ptr<const rules::CheckReport> check) {
    check_ = std::move(check);
    show();
  });
}

void FindingsView::show() {
  if (check_ == nullptr)
    return;
  table_.show(allFindingRows(
      *check_, all_->isChecked() ? ShownFindings::All : ShownFindings::Faults, shown_));
  page_->clear();
  const auto fired =
      std::count_if(check_->results.begin(), check_->results.end(), [](const auto& result) {
        return result.counts() && result.outcome.verdict == rules::Verdict::Fired;
      });
  state_->setText(fired == 0   ? tr("No rule found a fault in this trace.")
                  : fired == 1 ? tr("1 finding")
                               : tr("%L1 findings").arg(fired));
  if (!shown_.empty())
    rows_->view().selectRow(0);
}

void FindingsView::showPage(int row) {
  page_->setHtml(pageOf(*shown_.at(static_cast<std::size_t>(row))));
}

}  // namespace sonde::gui
