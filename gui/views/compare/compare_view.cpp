#include "gui/views/compare/compare_view.h"

#include "gui/views/table/table_panel.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace sonde::gui {

CompareView::CompareView(TraceModels& models) : Panel(models) {
  auto* page = new QWidget;
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(8, 8, 8, 0);
  auto* line = new QHBoxLayout;
  auto* choose = new QPushButton(tr("Compare with an earlier run…"));
  names_ = new QLabel;
  names_->setTextFormat(Qt::PlainText);
  line->addWidget(choose);
  line->addSpacing(8);
  line->addWidget(names_, 1);
  layout->addLayout(line);
  sentence_ = new QLabel;
  sentence_->setTextFormat(Qt::PlainText);
  sentence_->setWordWrap(true);
  QFont large = sentence_->font();
  large.setPointSizeF(large.pointSizeF() * 1.2);
  sentence_->setFont(large);
  layout->addWidget(sentence_);
  auto* rows = new TablePanel(table_);
  rows->setAccessibleName(tr("Differences"));
  layout->addWidget(rows, 1);
  page->setFocusProxy(rows);
  setContent(page);
  connect(choose, &QPushButton::clicked, this, &CompareView::chooseFiles);
  connect(rows, &TablePanel::opened, this, &CompareView::placeWanted);
}

QString CompareView::sentence() const {
  return sentence_->text();
}

void CompareView::chooseFiles() {
  const QStringList paths = QFileDialog::getOpenFileNames(
      this, tr("Traces of the earlier runs"), {}, tr("Sonde traces (*.sonde);;All files (*)"));
  if (!paths.isEmpty())
    compareWith(paths);
}

void CompareView::compareWith(const QStringList& before) {
  before_ = before;
  refresh();
}

void CompareView::read() {
  showContent();
  table_.show({});
  if (before_.isEmpty()) {
    names_->clear();
    sentence_->setText(
        tr("Choose one or more traces of the same program. Several runs a side show "
           "smaller differences."));
    return;
  }
  QStringList names;
  for (const QString& path : before_)
    names << QFileInfo(path).fileName();
  names_->setText(tr("before: %1").arg(names.join(QStringLiteral(", "))));
  sentence_->setText(tr("Comparing…"));
  const QStringList after = models().document.paths();
  models().analyses.ask(
      *this,
      [before = before_, after](const store::Database&) { return compareTraces(before, after); },
      [this](const Result<engine::diff::Diff>& diff) { show(diff); });
}

void CompareView::show(const Result<engine::diff::Diff>& diff) {
  if (!diff) {
    sentence_->setText(QString::fromStdString(diff.error().message));
    return;
  }
  sentence_->setText(sentenceOf(*diff));
  table_.show(differenceRows(*diff));
}

}  // namespace sonde::gui
