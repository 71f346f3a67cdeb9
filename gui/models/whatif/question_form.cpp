#include "gui/models/whatif/question_form.h"

#include "analysis/questions/named_questions.h"
#include "analysis/questions/question_words.h"
#include "base/shell_quote.h"
#include "gui/trace/qtext.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

namespace sonde::gui {
namespace {

struct KnownRange {
  const char* question;
  const char* key;
  FieldRange range;
};

// Settings that a slider can move, in the bounds in which people try them.
const std::vector<KnownRange>& knownRanges() {
  static const std::vector<KnownRange> kRanges = {
      {"scale", "K", {0, 2}},
      {"bucket-size", "SIZE", {1, 512, true, true, {}, QStringLiteral("MiB")}},
      {"network", "bandwidth", {0.25, 16, true, false, QStringLiteral("x"), {}}},
      {"ranks", "n", {1, 1024, true, true}},
      {"workers", "n", {0, 16, false, true}},
      {"cache", "hit", {0, 100, false, true, {}, QStringLiteral("%")}},
      {"batch", "x", {0.25, 4, true}},
      {"accumulation", "x", {1, 16, false, true}},
      {"mixed-precision", "matrix", {1, 8, true}},
      {"mixed-precision", "memory", {1, 4, true}},
      {"fp8", "matrix", {1, 4, true}},
      {"recompute", "share", {0, 1}},
      {"cuda-graphs", "launch", {1, 100, true, true, {}, QStringLiteral("us")}},
      {"overlap", "bucket", {1, 512, true, true, {}, QStringLiteral("MiB")}},
      {"partition", "size", {1, 64, true, true, {}, QStringLiteral("MiB")}},
      {"parameter-server", "servers", {1, 16, false, true}},
  };
  return kRanges;
}

std::optional<FieldRange> rangeOf(const QString& question, const QString& key) {
  for (const KnownRange& each : knownRanges())
    if (question == QLatin1String(each.question) && key == QLatin1String(each.key))
      return each.range;
  return std::nullopt;
}

// Questions that most users ask come first, and then those of the user's own selectors.
std::size_t placeOf(const QString& name) {
  static const QStringList kFirst = {"workers",
                                     "bucket-size",
                                     "network",
                                     "batch",
                                     "mixed-precision",
                                     "no-stragglers",
                                     "ranks",
                                     "scale",
                                     "set",
                                     "remove"};
  const auto place = kFirst.indexOf(name);
  return static_cast<std::size_t>(place < 0 ? kFirst.size() : place);
}

QString formText(const char* text) {
  return QCoreApplication::translate("Whatif", text);
}

// A word with a value, such as "SEL=K".
QuestionForm wordForm(const questions::QuestionWord& word) {
  QuestionForm form{qtext(std::string(word.name)), qtext(std::string(word.help)), false, {}};
  form.help[0] = form.help[0].toUpper();
  form.help += u'.';
  for (const QString& key : QString::fromUtf8(word.value).split(u'=')) {
    FormField field{key, {}, {}, key == QLatin1String("SEL"), rangeOf(form.name, key)};
    if (field.isSelector)
      field.hint = formText("such as kind:copy or name:*gemm*,rank:3");
    else if (key == QLatin1String("TIME"))
      field.hint = formText("such as 20ms");
    else if (key == QLatin1String("SIZE"))
      field.initial = QStringLiteral("25MiB");
    else if (key == QLatin1String("K"))
      field.initial = QStringLiteral("0.5");
    form.fields.push_back(std::move(field));
  }
  return form;
}

QuestionForm namedForm(const questions::NamedQuestion& question) {
  QuestionForm form{QString::fromLatin1(question.name),
                    formText("The job then %1.").arg(QString::fromUtf8(question.help)),
                    true,
                    {}};
  for (const QString& setting :
       QString::fromUtf8(question.settings).split(u',', Qt::SkipEmptyParts)) {
    const auto split = setting.indexOf(u'=');
    FormField field{setting.left(split), setting.mid(split + 1), {}};
    field.range = rangeOf(form.name, field.key);
    if (field.initial.isEmpty() && field.range)
      field.initial = field.range->textAt(0.5);
    form.fields.push_back(std::move(field));
  }
  return form;
}

// In quotes if it has a comma or a quote.
QString settingText(const QString& value) {
  if (!value.contains(u',') && !value.contains(u'"'))
    return value;
  QString escaped = value;
  escaped.replace(u'\\', QLatin1String("\\\\")).replace(u'"', QLatin1String("\\\""));
  return u'"' + escaped + u'"';
}

// A word of the command line that shellQuoted() made.
QString unquoted(const QString& word) {
  if (!word.startsWith(u'\''))
    return word;
  return word.mid(1, word.size() - 2).replace(QLatin1String("'\\''"), QLatin1String("'"));
}

// A named question as its word asks it: with all settings, or with the value of the first one.
QString namedText(const QuestionForm& form, const QString& value) {
  if (value.isEmpty())
    return form.name;
  return form.name + u',' + (value.contains(u'=') ? value : form.fields.front().key + u'=' + value);
}

}  // namespace

QString FieldRange::textAt(double part) const {
  part = std::clamp(part, 0.0, 1.0);
  double value = isLogarithmic ? low * std::pow(high / low, part) : low + part * (high - low);
  value = isWhole ? std::round(value) : std::round(value * 100) / 100;
  return prefix + QString::number(value, 'g', 6) + unit;
}

std::optional<double> FieldRange::partOf(const QString& text) const {
  if (!text.startsWith(prefix) || !text.endsWith(unit))
    return std::nullopt;
  bool isNumber = false;
  double value =
      text.mid(prefix.size(), text.size() - prefix.size() - unit.size()).toDouble(&isNumber);
  if (!isNumber)
    return std::nullopt;
  value = std::clamp(value, low, high);
  return isLogarithmic ? std::log(value / low) / std::log(high / low)
                       : (value - low) / (high - low);
}

Result<AskedChange> QuestionForm::ask(const QStringList& values) const {
  QStringList given;
  for (std::size_t at = 0; at < fields.size(); ++at) {
    const QString value = values.value(static_cast<qsizetype>(at)).trimmed();
    if (!isNamed)
      given << value;
    else if (!value.isEmpty())
      given << fields[at].key + u'=' + settingText(value);
  }
  if (!isNamed && given.contains(QString()))
    return Error{ErrorCode::InvalidArgument,
                 formText("give a value for %1")
                     .arg(fields[static_cast<std::size_t>(given.indexOf(QString()))].key)
                     .toStdString()};
  const QString word = isNamed ? QStringLiteral("ask") : name;
  const std::string value =
      (isNamed ? (QStringList(name) + given).join(u',') : given.join(u'=')).toStdString();
  SONDE_TRY_ASSIGN(engine::whatif::Question question,
                   questions::findWord(word.toStdString())->parse(value, {}));
  return AskedChange{QStringLiteral("--%1 %2").arg(word, qtext(shellQuoted(value))),
                     std::move(question)};
}

const std::vector<QuestionForm>& questionForms() {
  static const std::vector<QuestionForm> kForms = [] {
    std::vector<QuestionForm> forms;
    std::vector<QuestionForm> named;
    for (const questions::NamedQuestion& each : questions::namedQuestions())
      named.push_back(namedForm(each));
    for (const questions::QuestionWord& each : questions::questionWords()) {
      const QString name = qtext(std::string(each.name));
      const bool isTwice = std::any_of(
          named.begin(), named.end(), [&](const QuestionForm& form) { return form.name == name; });
      if (name != QLatin1String("ask") && !isTwice)
        forms.push_back(wordForm(each));
    }
    std::move(named.begin(), named.end(), std::back_inserter(forms));
    std::stable_sort(forms.begin(), forms.end(), [](const auto& left, const auto& right) {
      return placeOf(left.name) < placeOf(right.name);
    });
    return forms;
  }();
  return kForms;
}

std::optional<FilledForm> filledForm(const QString& option) {
  const auto space = option.indexOf(u' ');
  if (!option.startsWith(QLatin1String("--")))
    return std::nullopt;
  const QString word = option.mid(2, space < 0 ? -1 : space - 2);
  const QString value = space < 0 ? QString() : unquoted(option.mid(space + 1));
  const bool isNamed = word == QLatin1String("ask");
  const auto asked = isNamed ? questions::parseAsked(value.toStdString())
                             : Result<questions::Asked>(questions::Asked{});
  if (!asked)
    return std::nullopt;
  const QString name = isNamed ? qtext(asked->name) : word;
  const std::vector<QuestionForm>& forms = questionForms();
  const auto found = std::find_if(
      forms.begin(), forms.end(), [&](const QuestionForm& form) { return form.name == name; });
  if (found == forms.end())
    return std::nullopt;
  FilledForm filled{static_cast<std::size_t>(found - forms.begin()), {}};
  if (isNamed) {
    for (const FormField& field : found->fields) {
      const auto given = asked->values.find(field.key.toStdString());
      filled.values << (given == asked->values.end() ? QString() : qtext(given->second));
    }
  } else if (found->isNamed) {  // such as "--network bandwidth=x2" and "--workers 4"
    return filledForm(QStringLiteral("--ask ") +
                      qtext(shellQuoted(namedText(*found, value).toStdString())));
  } else {
    const auto split = value.lastIndexOf(u'=');
    if (found->fields.size() == 1)
      filled.values << value;
    else
      filled.values << value.left(split) << value.mid(split + 1);
  }
  return filled;
}

}  // namespace sonde::gui
