// The questions of `sonde whatif` as forms: fields with a default and, for some, a range for a
// slider. Plain values; any thread.
#pragma once

#include "analysis/engine/whatif/question.h"
#include "base/result.h"

#include <QString>
#include <QStringList>

#include <cstddef>
#include <optional>
#include <vector>

namespace sonde::gui {

// Values are a number between two texts: "x2", "25MiB", "90%".
struct FieldRange {
  double low = 0;
  double high = 1;
  bool isLogarithmic = false;
  bool isWhole = false;
  QString prefix = {};
  QString unit = {};

  // `part` from 0 to 1.
  [[nodiscard]] QString textAt(double part) const;
  // nullopt: the text has another form. Numbers out of the range count as its ends.
  [[nodiscard]] std::optional<double> partOf(const QString& text) const;
};

struct FormField {
  QString key;      // of the setting
  QString initial;  // empty: none
  QString hint;     // an example, for an empty field
  bool isSelector = false;
  std::optional<FieldRange> range = {};
};

// A question and the option that asks it: "--bucket-size 25MiB".
struct AskedChange {
  QString option;
  engine::whatif::Question question;
};

struct QuestionForm {
  QString name;  // a word of questions::questionWords(), or a question of `--ask`
  QString help;  // a sentence
  bool isNamed = false;
  std::vector<FormField> fields;

  // `values`: one a field; empty ones are left out. InvalidArgument: the question needs another.
  [[nodiscard]] Result<AskedChange> ask(const QStringList& values) const;
};

// All questions, the usual ones first.
[[nodiscard]] const std::vector<QuestionForm>& questionForms();

// A form with values.
struct FilledForm {
  std::size_t form = 0;  // of questionForms()
  QStringList values;    // one a field
};
// The opposite of QuestionForm::ask(). nullopt: the option is that of no form.
[[nodiscard]] std::optional<FilledForm> filledForm(const QString& option);

}  // namespace sonde::gui
