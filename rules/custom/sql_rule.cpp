#include "rules/custom/sql_rule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <utility>

namespace sonde::rules {
namespace {

using store::ColumnType;
using store::Statement;

constexpr std::size_t kMostFindings = 100;

EvidenceValue cellOf(const Statement& row, int column) {
  if (row.columnType(column) == ColumnType::Integer)
    return row.integer(column);
  if (row.columnType(column) == ColumnType::Real)
    return row.real(column);
  return std::string(row.text(column));
}

std::string textOf(const EvidenceValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value))
    return fmt::format("{:.6g}", *real);
  return std::get<std::string>(value);
}

// A finding of one row.
Finding findingOf(const Statement& row, const std::string& summary) {
  Finding finding{"job", {}};
  Outcome& outcome = finding.outcome;
  outcome.verdict = Verdict::Fired;
  outcome.samples = 1;
  std::vector<std::string> shown;
  for (int i = 0; i < row.columnCount(); ++i) {
    if (row.isNull(i))
      continue;
    const std::string name = row.columnName(i);
    if (name == "entity")
      finding.entity = row.text(i);
    else if (name == "message")
      outcome.message = row.text(i);
    else if (name == "value")
      outcome.value = row.real(i);
    else if (name == "threshold")
      outcome.threshold = row.real(i);
    else
      outcome.evidence[name] = cellOf(row, i);
    if (name != "entity" && name != "message")
      shown.push_back(fmt::format("{} {}", name, textOf(cellOf(row, i))));
  }
  if (outcome.message.empty())
    outcome.message = fmt::format("{}: {}", summary, fmt::join(shown, ", "));
  return finding;
}

Finding wholeFinding(Verdict verdict, std::string message) {
  Finding finding{"job", {}};
  finding.outcome.verdict = verdict;
  finding.outcome.message = std::move(message);
  return finding;
}

// Whether the trace has what the rule needs.
Result<bool> hasData(const store::Database& trace, const SqlRule& rule) {
  if (rule.needsData.empty())
    return true;
  store::UserQuery query = rule.query;
  query.sql = rule.needsData;
  bool isFirst = true;
  bool has = false;
  SONDE_TRY(store::runUserQuery(trace, query, [&](const Statement& row) -> Result<void> {
    if (std::exchange(isFirst, false))
      has = row.real(0) != 0;
    return {};
  }));
  return has;
}

Result<std::vector<Finding>> judgeSql(const SqlRule& rule, const store::Database& trace) {
  SONDE_TRY_ASSIGN(const bool has, hasData(trace, rule));
  if (!has)
    return std::vector{wholeFinding(
        Verdict::Insufficient,
        fmt::format("the trace lacks the data of the rule: {} gives 0", rule.needsData))};
  std::vector<Finding> findings;
  std::size_t more = 0;
  SONDE_TRY(store::runUserQuery(trace, rule.query, [&](const Statement& row) -> Result<void> {
    if (findings.size() < kMostFindings)
      findings.push_back(findingOf(row, rule.summary));
    else
      ++more;
    return {};
  }));
  if (findings.empty())
    findings.push_back(wholeFinding(Verdict::Pass, "the statement has no row"));
  if (more > 0)
    findings.back().outcome.message += fmt::format("; {} more rows are left out", more);
  for (Finding& finding : findings)
    finding.outcome.query = rule.query.sql;
  return findings;
}

}  // namespace

Result<std::shared_ptr<const RuleInfo>> makeSqlRule(const SqlRule& rule) {
  SONDE_TRY(store::checkUserQuery(rule.query));
  if (!rule.needsData.empty()) {
    store::UserQuery needs = rule.query;
    needs.sql = rule.needsData;
    SONDE_TRY(store::checkUserQuery(needs));
  }
  auto info = std::make_shared<RuleInfo>();
  info->name = rule.name;
  info->profile = Profile::Ci;
  info->summary = rule.summary;
  info->details = rule.query.sql;
  info->hint = rule.hint;
  info->judge =
      JobJudge([rule](Facts& facts, const Parameters&) { return judgeSql(rule, facts.trace()); });
  return std::shared_ptr<const RuleInfo>(std::move(info));
}

}  // namespace sonde::rules
