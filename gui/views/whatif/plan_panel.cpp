#include "gui/views/whatif/plan_panel.h"

#include "gui/models/whatif/asked_trace.h"
#include "gui/trace/qtext.h"
#include "gui/views/table/table_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

#include <utility>

namespace sonde::gui {

PlanPanel::PlanPanel(TraceModels& models, QWidget* parent) : QWidget(parent), models_(models) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 4, 0, 0);
  auto* line = new QHBoxLayout;
  search_ = new QPushButton(tr("&Find the best settings"));
  askAll_ = new QPushButton(tr("Ask the &whole plan"));
  add_ = new QPushButton(tr("Add the &selected change"));
  line->addWidget(search_);
  line->addWidget(askAll_);
  line->addWidget(add_);
  line->addStretch(1);
  layout->addLayout(line);
  text_ = new QLabel;
  text_->setWordWrap(true);
  text_->setTextFormat(Qt::PlainText);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  layout->addWidget(text_);
  rows_ = new TablePanel(table_, TablePanel::Filter::None);
  rows_->setAccessibleName(tr("Settings that were tried"));
  rows_->stretch(1);
  layout->addWidget(rows_, 1);
  connect(search_, &QPushButton::clicked, this, [this] { stop_ == nullptr ? search() : stop(); });
  connect(askAll_, &QPushButton::clicked, this, &PlanPanel::askPlan);
  connect(add_, &QPushButton::clicked, this, [this] {
    const QModelIndex current = rows_->view().currentIndex();
    if (current.isValid())
      addRow(rows_->shown().mapToSource(current).row());
  });
  reset(false);
}

PlanPanel::~PlanPanel() {
  stop();
}

QString PlanPanel::text() const {
  return text_->text();
}

void PlanPanel::reset(bool isReady) {
  stop();
  stop_.reset();
  table_.show({});
  tried_.clear();
  search_->setText(tr("&Find the best settings"));
  search_->setEnabled(isReady);
  askAll_->setEnabled(false);
  add_->setEnabled(false);
  text_->setText(
      tr("Tries the settings that the trace allows, alone and together, as sonde optimize "
         "does."));
}

void PlanPanel::search() {
  stop_ = std::make_shared<std::atomic<bool>>(false);
  search_->setText(tr("&Stop and show the best so far"));
  text_->setText(tr("Trying settings…"));
  models_.analyses.ask(
      *this,
      [stop = stop_](const store::Database& trace) { return findPlan(trace, *stop); },
      [this](const Result<engine::optimise::Plan>& plan) { show(plan); });
}

void PlanPanel::stop() {
  if (stop_ != nullptr)
    *stop_ = true;
}

void PlanPanel::show(const Result<engine::optimise::Plan>& plan) {
  stop_.reset();
  search_->setText(tr("&Find the best settings"));
  if (!plan) {
    text_->setText(qtext(plan.error().message));
    return;
  }
  table_.show(planRows(*plan, tried_));
  order_.clear();
  for (const std::string& option : plan->questions)
    order_ << qtext(option);
  text_->setText((QStringList(planText(*plan)) + leftOutTexts(*plan)).join(u'\n'));
  askAll_->setEnabled(!plan->changes.empty());
  add_->setEnabled(!tried_.empty());
  if (!tried_.empty())
    rows_->view().selectRow(0);
}

void PlanPanel::addRow(int row) {
  emit added(tried_.at(static_cast<std::size_t>(row)).change);
}

void PlanPanel::askPlan() {
  std::vector<AskedChange> changes;
  for (const QString& option : order_)
    for (const TriedChange& each : tried_)
      if (each.isInPlan && each.change.option == option)
        changes.push_back(each.change);
  emit planWanted(changes);
}

}  // namespace sonde::gui
