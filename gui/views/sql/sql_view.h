// A console for SELECT statements over the views of the trace: completes names, shows the result as
// a table. Main thread; the models must outlive it.
#pragma once

#include "gui/models/table/value_table.h"
#include "gui/views/panel.h"

#include <QStringList>

#include <vector>

class QCompleter;
class QLabel;
class QPlainTextEdit;
class QStringListModel;
class QTreeWidget;

namespace sonde::gui {

struct SqlRelation;

class SqlView : public Panel {
  Q_OBJECT

 public:
  explicit SqlView(TraceModels& models);

  // Runs the text of the editor.
  void run();
  void setText(const QString& sql);
  // Runs the query.
  void take(const QString& question) override;
  [[nodiscard]] const ValueTable& table() const { return table_; }
  [[nodiscard]] QString state() const;
  [[nodiscard]] QStringList words() const;

 protected:
  void read() override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QTreeWidget* buildSchema();
  void showSchema(const std::vector<SqlRelation>& schema);
  void complete();
  void insert(const QString& word);
  [[nodiscard]] QString wordAtCursor() const;

  ValueTable table_{{}};
  QObject reading_;  // asks for the views
  QPlainTextEdit* text_ = nullptr;
  QLabel* state_ = nullptr;
  QCompleter* completer_ = nullptr;
  QStringListModel* words_ = nullptr;
  QTreeWidget* schema_ = nullptr;
};

}  // namespace sonde::gui
