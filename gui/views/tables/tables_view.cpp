#include "gui/views/tables/tables_view.h"

#include "gui/models/tables/summary_rows.h"
#include "gui/views/table/table_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace sonde::gui {

TablesView::TablesView(TraceModels& models) : Panel(models) {
  auto* page = new QWidget;
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(8, 8, 8, 0);
  auto* line = new QHBoxLayout;
  name_ = new QComboBox;
  name_->setAccessibleName(tr("Table"));
  for (const SummaryTitle& each : summaryTitles())
    name_->addItem(each.title, QString::fromStdString(each.name));
  note_ = new QLabel;
  line->addWidget(name_);
  line->addSpacing(16);
  line->addWidget(note_, 1);
  layout->addLayout(line);
  rows_ = new TablePanel(table_);
  layout->addWidget(rows_, 1);
  page->setFocusProxy(rows_);
  setContent(page);
  connect(name_, &QComboBox::activated, this, [this] { choose(name_->currentData().toString()); });
  connect(rows_, &TablePanel::opened, this, &TablesView::placeWanted);
  connect(&models.focus, &Focus::changed, this, &TablesView::showNote);
  followTime();
}

void TablesView::choose(const QString& name) {
  isChosen_ = true;
  name_->setCurrentIndex(name_->findData(name));
  refresh();
}

QString TablesView::note() const {
  return note_->text();
}

// Summaries add up all ranks, so that the focus on one of them leaves no row out.
void TablesView::showNote() {
  const std::size_t rows = table_.rows().size();
  if (rows == 0)
    note_->setText(models().view.area() ? tr("The selected span has no such events.")
                                        : tr("The trace has no such events."));
  else
    note_->setText(models().focus.part().rank ? tr("%L1 rows, of all ranks, as recorded").arg(rows)
                                              : tr("%L1 rows, as recorded").arg(rows));
}

void TablesView::read() {
  note_->setText(tr("Reading…"));
  ask([name = isChosen_ ? name_->currentData().toString().toStdString() : std::string(),
       within = models().view.selectedTime()](
          const store::Database& trace) { return summaryRows(trace, name, within); },
      [this](SummaryRows read) {
        name_->setCurrentIndex(name_->findData(QString::fromStdString(read.name)));
        // The last text is the name of the events.
        int name = 0;
        for (std::size_t column = 0; column < read.columns.size(); ++column)
          if (read.columns[column].kind == ValueKind::Text)
            name = static_cast<int>(column);
        table_.show(std::move(read.columns), std::move(read.rows));
        rows_->stretch(name);
        showNote();
      });
}

}  // namespace sonde::gui
