// A console for SELECT statements over the views of the trace: completes names, shows the result as
// a table. Main thread; the models must outlive it.
#pragma once

#include "gui/models/table/value_table.h"
#include "gui/views/panel.h"

#include <QStringList>

class QCompleter;
class QLabel;
class QPlainTextEdit;
class QStringListModel;

namespace sonde::gui {

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
  void complete();
  void insert(const QString& word);
  [[nodiscard]] QString wordAtCursor() const;

  ValueTable table_{{}};
  QObject reading_;  // asks for the words
  QPlainTextEdit* text_ = nullptr;
  QLabel* state_ = nullptr;
  QCompleter* completer_ = nullptr;
  QStringListModel* words_ = nullptr;
};

}  // namespace sonde::gui
