// Chooses a question and fills in its settings: a field each, with a slider where a range is known.
// Main thread.
#pragma once

#include "gui/models/whatif/question_form.h"

#include <QWidget>

#include <vector>

class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QSlider;

namespace sonde::gui {

class QuestionEditor : public QWidget {
  Q_OBJECT

 public:
  explicit QuestionEditor(QWidget* parent = nullptr);

  void show(const FilledForm& filled);
  // Shows a question with its defaults. Requires: there is one of that name.
  void choose(const QString& question);
  // Requires: the question has such a field.
  [[nodiscard]] QLineEdit& field(const QString& key);
  [[nodiscard]] QSlider* slider(const QString& key);  // nullptr: it has none
  [[nodiscard]] FilledForm filled() const;
  // The question as it is filled in. InvalidArgument: a value is missing or has another form.
  [[nodiscard]] Result<AskedChange> ask() const;
  // Below the fields; empty: none.
  void showError(const QString& text);
  [[nodiscard]] QString error() const;

 signals:
  // The user chose another question.
  void questionChosen();
  // The user changed a field.
  void changed();

 private:
  struct Row {
    QLineEdit* text = nullptr;
    QSlider* slider = nullptr;
  };

  void showForm(int form, const QStringList& values);
  void addField(const FormField& field, const QString& value);
  [[nodiscard]] const QuestionForm& form() const;
  [[nodiscard]] const Row& rowOf(const QString& key) const;

  QComboBox* questions_ = nullptr;
  QLabel* help_ = nullptr;
  QFormLayout* fields_ = nullptr;
  QLabel* error_ = nullptr;
  std::vector<Row> rows_;
};

}  // namespace sonde::gui
