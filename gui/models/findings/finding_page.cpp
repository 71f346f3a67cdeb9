#include "gui/models/findings/finding_page.h"

#include "gui/trace/qtext.h"
#include "gui/trace/time_format.h"
#include "rules/engine/rule.h"
#include "rules/reporters/report_parts.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <QStringList>

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

namespace sonde::gui {
namespace {

using rules::CheckResult;
using rules::Verdict;

QString tr(const char* text) {
  return QCoreApplication::translate("Findings", text);
}

QString escaped(std::string_view text) {
  return qtext(text).toHtmlEscaped();
}

QVariant optionalReal(const std::optional<double>& value) {
  return value ? QVariant(*value) : QVariant();
}

bool isDuration(std::string_view name, const rules::EvidenceValue& value) {
  return (name == "ns" || name.ends_with("_ns")) && std::holds_alternative<std::int64_t>(value);
}

// "median" of "median_ns", whose value has its own unit.
QString labelOf(const std::string& name) {
  if (name == "ns")
    return tr("time");
  return spaced(name.ends_with("_ns") ? name.substr(0, name.size() - 3) : name);
}

QString htmlOf(const std::string& name, const rules::EvidenceValue& value) {
  if (isDuration(name, value))
    return formatDuration(std::get<std::int64_t>(value));
  const auto* const lines = std::get_if<std::vector<std::string>>(&value);
  if (lines == nullptr)
    return escaped(rules::textOf(value));
  QStringList parts;
  for (const std::string& line : *lines)
    parts << escaped(line);
  return parts.join(QStringLiteral("<br>"));
}

QString section(const QString& title, const QString& body) {
  return body.isEmpty() ? QString() : QStringLiteral("<h4>%1</h4>%2").arg(title, body);
}

QString evidenceOf(const rules::Outcome& outcome) {
  QString rows;
  const auto add = [&](const QString& name, const QString& value) {
    rows += QStringLiteral("<tr><td style=\"padding-right:16px\">%1</td><td>%2</td></tr>")
                .arg(name.toHtmlEscaped(), value);
  };
  if (outcome.value)
    add(tr("value"), QString::number(*outcome.value));
  if (outcome.threshold)
    add(tr("threshold"), QString::number(*outcome.threshold));
  if (!outcome.window.empty())
    add(tr("judged"), escaped(outcome.window));
  if (outcome.samples > 0)
    add(tr("samples"), QString::number(outcome.samples));
  for (const auto& [name, value] : outcome.evidence)
    add(labelOf(name), htmlOf(name, value));
  return rows.isEmpty() ? QString() : QStringLiteral("<table>%1</table>").arg(rows);
}

QString listOf(const std::vector<std::string>& lines) {
  QString items;
  for (const std::string& line : lines)
    items += QStringLiteral("<li><code>%1</code></li>").arg(escaped(line));
  return items.isEmpty() ? QString() : QStringLiteral("<ul>%1</ul>").arg(items);
}

// The views that answer as verbs do.
constexpr std::pair<QLatin1String, QLatin1String> kViews[] = {
    {QLatin1String("report"), QLatin1String("overview")},
    {QLatin1String("breakdown"), QLatin1String("breakdown")},
    {QLatin1String("whatif"), QLatin1String("whatif")},
    {QLatin1String("optimize"), QLatin1String("whatif")},
    {QLatin1String("graph"), QLatin1String("graph")},
    {QLatin1String("stacks"), QLatin1String("flame")},
    {QLatin1String("sql"), QLatin1String("sql")},
    {QLatin1String("diff"), QLatin1String("compare")}};

// A link to the view "whatif" with the question "--workers 4", for the command "sonde whatif TRACE
// --workers 4". Empty: no view answers it.
QUrl linkOf(const QString& command) {
  const QString verb = command.section(u' ', 1, 1);
  const auto* const found = std::find_if(
      std::begin(kViews), std::end(kViews), [&](const auto& each) { return each.first == verb; });
  if (!command.startsWith(QLatin1String("sonde ")) || found == std::end(kViews))
    return {};
  QString ask = command.section(u' ', 3);
  if (ask.size() > 1 && ask.startsWith(u'"') && ask.endsWith(u'"'))
    ask = ask.mid(1, ask.size() - 2);
  QUrl link;
  link.setScheme(QStringLiteral("view"));
  link.setPath(found->second);
  link.setFragment(ask, QUrl::DecodedMode);
  return link;
}

QString commandsOf(const std::vector<std::string>& commands) {
  QString items;
  for (const std::string& command : commands) {
    const QUrl link = linkOf(qtext(command));
    items += link.isEmpty() ? QStringLiteral("<li><code>%1</code></li>").arg(escaped(command))
                            : QStringLiteral("<li><a href=\"%1\"><code>%2</code></a></li>")
                                  .arg(QString::fromLatin1(link.toEncoded()).toHtmlEscaped(),
                                       escaped(command));
  }
  return items.isEmpty() ? QString() : QStringLiteral("<ul>%1</ul>").arg(items);
}

QString locationsOf(const rules::Outcome& outcome) {
  std::vector<std::string> lines;
  for (const rules::Location& place : outcome.locations)
    lines.push_back(rules::textOf(place));
  return listOf(lines);
}

}  // namespace

std::vector<ValueColumn> allFindingColumns() {
  return {{tr("verdict")},
          {tr("severity")},
          {tr("rule")},
          {tr("where")},
          {tr("what")},
          {tr("value"), ValueKind::Real},
          {tr("threshold"), ValueKind::Real},
          {tr("samples"), ValueKind::Integer}};
}

std::vector<ValueRow> allFindingRows(const rules::CheckReport& check,
                                     ShownFindings which,
                                     std::vector<const CheckResult*>& shown) {
  shown = rules::mostSeriousFirst(check);
  std::stable_partition(
      shown.begin(), shown.end(), [](const auto* each) { return each->counts(); });
  if (which == ShownFindings::Faults)
    std::erase_if(shown, [](const auto* each) {
      return each->outcome.verdict != Verdict::Fired && each->outcome.verdict != Verdict::Error;
    });
  std::vector<ValueRow> rows;
  for (const CheckResult* result : shown) {
    const rules::Outcome& outcome = result->outcome;
    QString verdict = qtext(rules::wordOf(outcome.verdict));
    if (!result->suppressed.empty())
      verdict += tr(", suppressed");
    ValueRow row{{verdict,
                  qtext(rules::wordOf(result->severity)),
                  qtext(result->rule),
                  qtext(result->entity),
                  qtext(outcome.message),
                  optionalReal(outcome.value),
                  optionalReal(outcome.threshold),
                  QVariant::fromValue<qlonglong>(outcome.samples)}};
    row.place = placeOf(*result);
    rows.push_back(std::move(row));
  }
  return rows;
}

Place placeOf(const CheckResult& result) {
  static const QRegularExpression kRank(QStringLiteral("^rank (\\d+)\\b"));
  Place place;
  if (const auto& time = result.outcome.time)
    place.span = Span{time->fromNs, time->toNs};
  if (const auto rank = kRank.match(qtext(result.entity)); rank.hasMatch())
    place.rank = rank.captured(1).toLongLong();
  return place;
}

QString pageOf(const CheckResult& result) {
  const rules::RuleInfo* const rule = rules::findRule(result.rule);
  const rules::Outcome& outcome = result.outcome;
  QString page = QStringLiteral("<h3>%1: %2</h3><p>%3</p>")
                     .arg(escaped(result.rule), escaped(result.entity), escaped(outcome.message));
  if (!result.suppressed.empty())
    page += QStringLiteral("<p>%1</p>").arg(tr("Suppressed: %1").arg(escaped(result.suppressed)));
  std::string hint = outcome.hint;
  if (hint.empty() && rule != nullptr)
    hint = rule->hint;
  if (!hint.empty() && outcome.verdict == Verdict::Fired)
    page += section(tr("What to do"), QStringLiteral("<p>%1</p>").arg(escaped(hint)));
  page += section(tr("Evidence"), evidenceOf(outcome));
  page += section(tr("Code"), locationsOf(outcome));
  const auto& next = outcome.next.empty() && rule != nullptr ? rule->next : outcome.next;
  page += section(tr("Shows more"), commandsOf(next));
  if (rule != nullptr)
    page += section(
        tr("The rule"),
        QStringLiteral("<p>%1.</p><p>%2</p>").arg(escaped(rule->summary), escaped(rule->details)));
  return page;
}

AskedView viewOf(const QUrl& link) {
  return {link.path(), link.fragment(QUrl::FullyDecoded)};
}

}  // namespace sonde::gui
