#include "gui/views/findings/findings_view.h"

#include "analysis/engine/standstill/collective_states.h"
#include "gui/models/overview/overview_values.h"
#include "gui/views/findings/collective_pane.h"
#include "gui/views/table/table_panel.h"
#include "rules/reporters/report_parts.h"

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
  collectives_ = new CollectivePane;
  auto* finding = new QSplitter(Qt::Vertical);
  finding->addWidget(page_);
  finding->addWidget(collectives_);
  halves->addWidget(finding);
  halves->setSizes({3000, 2000});
  layout->addWidget(halves, 1);
  page->setFocusProxy(rows_);
  setContent(page);
  connect(all_, &QCheckBox::toggled, this, &FindingsView::show);
  connect(rows_, &TablePanel::opened, this, &FindingsView::placeWanted);
  connect(rows_, &TablePanel::currentRowChanged, this, &FindingsView::showPage);
  connect(page_, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) {
    const AskedView wanted = viewOf(link);
    emit viewWanted(wanted.view, wanted.ask);
  });
  connect(collectives_, &CollectivePane::placeWanted, this, &FindingsView::placeWanted);
}

QString FindingsView::page() const {
  return page_->toPlainText();
}

void FindingsView::read() {
  check_.reset();
  shown_.clear();
  table_.show({});
  page_->clear();
  collectives_->show({});
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
  collectives_->show({});
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
  const rules::CheckResult& result = *shown_.at(static_cast<std::size_t>(row));
  page_->setHtml(pageOf(result));
  readCollectives(result);
}

void FindingsView::readCollectives(const rules::CheckResult& result) {
  models().analyses.cancel(*collectives_);
  collectives_->show({});
  if (result.rule != "hang" || result.outcome.verdict != rules::Verdict::Fired)
    return;
  const auto group = result.outcome.evidence.find("group");
  const std::string name =
      group == result.outcome.evidence.end() ? std::string() : rules::textOf(group->second);
  models().analyses.ask(
      *collectives_,
      [name](const store::Database& trace) {
        return engine::standstill::readCollectiveStates(trace, name);
      },
      [this](auto states) {
        // Without them the finding's page still says what was found.
        if (states)
          collectives_->show(*std::move(states));
      });
}

}  // namespace sonde::gui
