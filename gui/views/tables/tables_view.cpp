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
  connect(name_, &QComboBox::currentIndexChanged, this, [this] { refresh(); });
  connect(rows_, &TablePanel::opened, this, &TablesView::placeWanted);
}

void TablesView::choose(const QString& name) {
  name_->setCurrentIndex(name_->findData(name));
}

QString TablesView::note() const {
  return note_->text();
}

void TablesView::read() {
  note_->setText(tr("Reading…"));
  ask([name = name_->currentData().toString().toStdString()](
          const store::Database& trace) { return summaryRows(trace, name); },
      [this](SummaryRows read) {
        note_->setText(read.rows.empty() ? tr("The trace has no such events.")
                                         : tr("%L1 rows").arg(read.rows.size()));
        // The last text is the name of the events.
        int name = 0;
        for (std::size_t column = 0; column < read.columns.size(); ++column)
          if (read.columns[column].kind == ValueKind::Text)
            name = static_cast<int>(column);
        table_.show(std::move(read.columns), std::move(read.rows));
        rows_->stretch(name);
      });
}

}  // namespace sonde::gui
