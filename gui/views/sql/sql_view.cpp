#include "gui/views/sql/sql_view.h"

#include "gui/models/sql/sql_result.h"
#include "gui/views/table/table_panel.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSplitter>
#include <QStringListModel>
#include <QTextBlock>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace sonde::gui {
namespace {

constexpr const char* kExample =
    "SELECT name, count(*) AS count, sum(dur_ns) / 1e6 AS ms\nFROM v_slice\nGROUP BY name\n"
    "ORDER BY ms DESC\nLIMIT 100";
constexpr int kFewestLetters = 2;  // before words are offered

}  // namespace

SqlView::SqlView(TraceModels& models) : Panel(models) {
  text_ = new QPlainTextEdit(QString::fromLatin1(kExample));
  text_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  text_->setAccessibleName(tr("SELECT statement"));
  text_->setTabChangesFocus(true);
  text_->installEventFilter(this);
  words_ = new QStringListModel(this);
  completer_ = new QCompleter(words_, this);
  completer_->setWidget(text_);
  completer_->setCaseSensitivity(Qt::CaseInsensitive);
  connect(completer_, qOverload<const QString&>(&QCompleter::activated), this, &SqlView::insert);
  connect(text_, &QPlainTextEdit::textChanged, this, &SqlView::complete);
  auto* run = new QPushButton(tr("Run (Ctrl + Enter)"));
  connect(run, &QPushButton::clicked, this, &SqlView::run);
  state_ = new QLabel;
  state_->setTextFormat(Qt::PlainText);
  state_->setWordWrap(true);
  auto* line = new QHBoxLayout;
  line->addWidget(run);
  line->addSpacing(8);
  line->addWidget(state_, 1);
  auto* top = new QWidget;
  auto* column = new QVBoxLayout(top);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(text_, 1);
  column->addLayout(line);
  auto* rows = new TablePanel(table_);
  connect(rows, &TablePanel::opened, this, &SqlView::placeWanted);
  schema_ = buildSchema();
  auto* editor = new QSplitter(Qt::Horizontal);
  editor->addWidget(top);
  editor->addWidget(schema_);
  editor->setSizes({3000, 1000});
  auto* halves = new QSplitter(Qt::Vertical);
  halves->addWidget(editor);
  halves->addWidget(rows);
  halves->setSizes({1000, 2500});
  auto* page = new QWidget;
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(8, 8, 8, 0);
  layout->addWidget(halves);
  page->setFocusProxy(text_);
  setContent(page);
}

void SqlView::take(const QString& question) {
  setText(question);
  run();
}

void SqlView::setText(const QString& sql) {
  text_->setPlainText(sql);
}

QString SqlView::state() const {
  return state_->text();
}

QStringList SqlView::words() const {
  return words_->stringList();
}

void SqlView::read() {
  showContent();
  table_.show({}, {});
  state_->setText(tr("On the right are the views of the trace. A double click inserts a name."));
  models().analyses.ask(
      reading_, sqlSchema, [this](const Result<std::vector<SqlRelation>>& schema) {
        if (schema)
          showSchema(*schema);
      });
}

QTreeWidget* SqlView::buildSchema() {
  auto* tree = new QTreeWidget;
  tree->setHeaderLabel(tr("Views and their columns"));
  tree->setAccessibleName(tr("Views and their columns"));
  tree->setExpandsOnDoubleClick(false);
  connect(tree, &QTreeWidget::itemActivated, this, [this](const QTreeWidgetItem* item) {
    text_->insertPlainText(item->text(0));
    text_->setFocus();
  });
  return tree;
}

void SqlView::showSchema(const std::vector<SqlRelation>& schema) {
  words_->setStringList(sqlWords(schema));
  schema_->clear();
  for (const SqlRelation& relation : schema) {
    auto* view = new QTreeWidgetItem(schema_, {relation.name});
    for (const QString& column : relation.columns)
      new QTreeWidgetItem(view, {column});
  }
}

void SqlView::run() {
  if (!models().document.ready())
    return;
  state_->setText(tr("Running…"));
  models().analyses.ask(
      *this,
      [sql = text_->toPlainText()](const store::Database& trace) { return runSql(trace, sql); },
      [this](Result<SqlResult> result) {
        if (!result) {
          state_->setText(QString::fromStdString(result.error().message));
          return;
        }
        state_->setText(result->isCut
                            ? tr("The first %L1 rows; there are more.").arg(result->rows.size())
                            : tr("%L1 rows").arg(result->rows.size()));
        table_.show(std::move(result->columns), std::move(result->rows));
      });
}

// Ctrl + Enter runs. While words are offered, the keys that choose one are the completer's.
bool SqlView::eventFilter(QObject* watched, QEvent* event) {
  if (watched != text_ || event->type() != QEvent::KeyPress)
    return Panel::eventFilter(watched, event);
  const auto* key = static_cast<QKeyEvent*>(event);
  const bool isEnter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
  if (isEnter && key->modifiers().testFlag(Qt::ControlModifier)) {
    completer_->popup()->hide();
    run();
    return true;
  }
  if (completer_->popup()->isVisible() &&
      (isEnter || key->key() == Qt::Key_Escape || key->key() == Qt::Key_Tab)) {
    event->ignore();
    return true;
  }
  return false;
}

QString SqlView::wordAtCursor() const {
  const QTextCursor cursor = text_->textCursor();
  const QString line = cursor.block().text().left(cursor.positionInBlock());
  qsizetype begin = line.size();
  while (begin > 0 && (line[begin - 1].isLetterOrNumber() || line[begin - 1] == u'_'))
    --begin;
  return line.mid(begin);
}

void SqlView::complete() {
  const QString word = wordAtCursor();
  if (word.size() < kFewestLetters || !text_->hasFocus()) {
    completer_->popup()->hide();
    return;
  }
  completer_->setCompletionPrefix(word);
  if (completer_->completionCount() == 0 ||
      completer_->currentCompletion().compare(word, Qt::CaseInsensitive) == 0) {
    completer_->popup()->hide();
    return;
  }
  QRect place = text_->cursorRect();
  place.setWidth(completer_->popup()->sizeHintForColumn(0) +
                 completer_->popup()->verticalScrollBar()->sizeHint().width() + 8);
  completer_->complete(place);
}

void SqlView::insert(const QString& word) {
  QTextCursor cursor = text_->textCursor();
  cursor.movePosition(QTextCursor::Left,
                      QTextCursor::KeepAnchor,
                      static_cast<int>(completer_->completionPrefix().size()));
  const QSignalBlocker blocker(text_);
  cursor.insertText(word);
}

}  // namespace sonde::gui
