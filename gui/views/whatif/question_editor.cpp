#include "gui/views/whatif/question_editor.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSlider>
#include <QVBoxLayout>

#include <cmath>

namespace sonde::gui {
namespace {

constexpr int kSliderSteps = 200;

}  // namespace

QuestionEditor::QuestionEditor(QWidget* parent) : QWidget(parent) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  questions_ = new QComboBox;
  questions_->setAccessibleName(tr("Question"));
  questions_->setMaxVisibleItems(40);
  for (const QuestionForm& each : questionForms()) {
    questions_->addItem(QStringLiteral("%1 – %2").arg(each.name, each.help), each.name);
    questions_->setItemData(questions_->count() - 1, each.help, Qt::ToolTipRole);
  }
  // The list is as wide as its sentences; the box itself leaves room for others.
  questions_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  questions_->setMinimumContentsLength(12);
  questions_->view()->setMinimumWidth(questions_->view()->sizeHintForColumn(0) + 24);
  help_ = new QLabel;
  help_->setWordWrap(true);
  auto* fields = new QWidget;
  fields_ = new QFormLayout(fields);
  fields_->setContentsMargins(0, 0, 0, 0);
  fields_->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  error_ = new QLabel;
  error_->setWordWrap(true);
  error_->setTextFormat(Qt::PlainText);
  error_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  error_->hide();
  layout->addWidget(questions_);
  layout->addWidget(help_);
  layout->addWidget(fields);
  layout->addWidget(error_);
  connect(questions_, &QComboBox::currentIndexChanged, this, [this](int index) {
    showForm(index, {});
    emit questionChosen();
  });
  showForm(0, {});
}

const QuestionForm& QuestionEditor::form() const {
  return questionForms().at(static_cast<std::size_t>(questions_->currentIndex()));
}

void QuestionEditor::show(const FilledForm& filled) {
  const QSignalBlocker blocker(questions_);
  questions_->setCurrentIndex(static_cast<int>(filled.form));
  showForm(static_cast<int>(filled.form), filled.values);
}

void QuestionEditor::choose(const QString& question) {
  questions_->setCurrentIndex(questions_->findData(question));
}

// `values` empty: the defaults.
void QuestionEditor::showForm(int form, const QStringList& values) {
  while (fields_->rowCount() > 0)
    fields_->removeRow(0);
  rows_.clear();
  const QuestionForm& shown = questionForms().at(static_cast<std::size_t>(form));
  help_->setText(shown.help);
  for (std::size_t at = 0; at < shown.fields.size(); ++at) {
    const FormField& field = shown.fields[at];
    addField(field, values.isEmpty() ? field.initial : values.value(static_cast<qsizetype>(at)));
  }
  showError({});
}

void QuestionEditor::addField(const FormField& field, const QString& value) {
  Row row;
  auto* cell = new QWidget;
  auto* layout = new QVBoxLayout(cell);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  row.text = new QLineEdit(value);
  row.text->setPlaceholderText(field.hint);
  row.text->setAccessibleName(field.key);
  layout->addWidget(row.text);
  if (field.range) {
    row.slider = new QSlider(Qt::Horizontal);
    row.slider->setRange(0, kSliderSteps);
    row.slider->setAccessibleName(tr("%1 as a slider").arg(field.key));
    layout->addWidget(row.slider);
    const auto follow = [slider = row.slider, range = *field.range](const QString& text) {
      const QSignalBlocker blocker(slider);
      slider->setValue(
          static_cast<int>(std::lround(range.partOf(text).value_or(0.5) * kSliderSteps)));
    };
    follow(value);
    connect(row.text, &QLineEdit::textChanged, this, follow);
    connect(row.slider,
            &QSlider::valueChanged,
            row.text,
            [text = row.text, range = *field.range](int step) {
              text->setText(range.textAt(double(step) / kSliderSteps));
            });
  }
  connect(row.text, &QLineEdit::textChanged, this, &QuestionEditor::changed);
  fields_->addRow(field.key, cell);
  rows_.push_back(row);
}

const QuestionEditor::Row& QuestionEditor::rowOf(const QString& key) const {
  const std::vector<FormField>& fields = form().fields;
  std::size_t at = 0;
  while (fields.at(at).key != key)
    ++at;
  return rows_.at(at);
}

QLineEdit& QuestionEditor::field(const QString& key) {
  return *rowOf(key).text;
}

QSlider* QuestionEditor::slider(const QString& key) {
  return rowOf(key).slider;
}

FilledForm QuestionEditor::filled() const {
  FilledForm filled{static_cast<std::size_t>(questions_->currentIndex()), {}};
  for (const Row& row : rows_)
    filled.values << row.text->text();
  return filled;
}

Result<AskedChange> QuestionEditor::ask() const {
  return form().ask(filled().values);
}

void QuestionEditor::showError(const QString& text) {
  error_->setText(text);
  error_->setVisible(!text.isEmpty());
}

QString QuestionEditor::error() const {
  return error_->text();
}

}  // namespace sonde::gui
