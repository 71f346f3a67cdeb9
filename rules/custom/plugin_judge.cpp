#include "rules/custom/plugin_judge.h"

#include "analysis/store/query/user_query.h"
#include "plugins/host/descriptor.h"
#include "rules/custom/plugin_rules.h"

#include <fmt/format.h>

#include <cmath>
#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace sonde::rules {
namespace {

using plugins::lineOf;
using store::Statement;

constexpr std::size_t kMostTextBytes = 1000;
constexpr std::size_t kMostPluginFindings = 100;
constexpr std::size_t kMostEvidence = 32;
constexpr int kFailed = 1;

// The state of one judgement. The plugin sees the table that it begins with.
struct JudgedTrace : sonde_trace {
  explicit JudgedTrace(const store::Database& of);

  const store::Database& trace;
  // A plugin gets the table as const.
  mutable std::vector<Finding> findings;
  mutable std::optional<Error> error;  // the first one
};

Error mistake(std::string message) {
  return {ErrorCode::InvalidArgument, std::move(message)};
}

int failWith(const JudgedTrace& judged, const char* function, const Error& error) {
  if (!judged.error)
    judged.error = Error{error.code, fmt::format("{}: {}", function, error.message)};
  return kFailed;
}

// Calls `act` with the state, unless an earlier call failed.
template <typename Act>
int guarded(const sonde_trace* table, const char* function, Act act) {
  if (table == nullptr)
    return kFailed;
  // The table is the base of the only state that there is.
  const auto& judged = *static_cast<const JudgedTrace*>(table);
  if (judged.error)
    return kFailed;
  if (const Result<void> done = act(judged); !done)
    return failWith(judged, function, done.error());
  return 0;
}

sonde_cell cellAt(const Statement& row, int column) {
  sonde_cell cell{SONDE_RULE_NULL, 0, 0, 0, ""};
  switch (row.columnType(column)) {
    case store::ColumnType::Integer:
    case store::ColumnType::Real:
      cell.type = row.columnType(column) == store::ColumnType::Integer ? SONDE_RULE_INTEGER
                                                                       : SONDE_RULE_REAL;
      cell.integer = row.integer(column);
      cell.real = row.real(column);
      break;
    case store::ColumnType::Text:
      cell.type = SONDE_RULE_TEXT;
      cell.text = row.text(column).data();
      cell.bytes = static_cast<std::uint32_t>(row.text(column).size());
      break;
    default:
      break;
  }
  return cell;
}

using Each = int (*)(void* context, const sonde_cell* cells, size_t columns);

Result<void> runQuery(const store::Database& trace, const char* sql, Each each, void* context) {
  if (sql == nullptr || each == nullptr)
    return mistake("an argument is a null pointer");
  store::UserQuery query;
  query.sql = sql;
  query.limit = kPluginLimit;
  std::vector<sonde_cell> cells;
  return store::runUserQuery(trace, query, [&](const Statement& row) -> Result<void> {
    cells.clear();
    for (int column = 0; column < row.columnCount(); ++column)
      cells.push_back(cellAt(row, column));
    if (each(context, cells.data(), cells.size()) != 0)
      return mistake("the function that got a row failed");
    return {};
  });
}

int queryTrace(const sonde_trace* table, const char* sql, Each each, void* context) {
  return guarded(table, "query", [&](const JudgedTrace& judged) {
    return runQuery(judged.trace, sql, each, context);
  });
}

Result<Verdict> verdictOf(std::uint32_t verdict) {
  switch (verdict) {
    case SONDE_PASS:
      return Verdict::Pass;
    case SONDE_FIRED:
      return Verdict::Fired;
    case SONDE_INSUFFICIENT:
      return Verdict::Insufficient;
    case SONDE_SKIPPED:
      return Verdict::Skipped;
    default:
      return mistake(fmt::format("{} is no verdict", verdict));
  }
}

std::string textOrEmpty(const char* text) {
  return text == nullptr ? std::string() : lineOf(text, kMostTextBytes);
}

Result<EvidenceValue> evidenceOf(const sonde_evidence& evidence) {
  switch (evidence.type) {
    case SONDE_RULE_INTEGER:
      return EvidenceValue(evidence.integer);
    case SONDE_RULE_REAL:
      if (!std::isfinite(evidence.real))
        return mistake(fmt::format("the evidence '{}' is not finite", evidence.name));
      return EvidenceValue(evidence.real);
    case SONDE_RULE_TEXT:
      return EvidenceValue(textOrEmpty(evidence.text));
    default:
      return mistake(fmt::format(
          "the evidence '{}' has the type {}, which does not exist", evidence.name, evidence.type));
  }
}

Result<std::optional<double>> numberOf(const sonde_finding& finding,
                                       std::uint32_t flag,
                                       double number) {
  if ((finding.has & flag) == 0)
    return std::optional<double>();
  if (!std::isfinite(number))
    return mistake("value and threshold must be finite");
  return std::optional(number);
}

Result<Finding> findingOf(const sonde_finding& given) {
  Finding finding{given.entity == nullptr ? "job" : textOrEmpty(given.entity), {}};
  Outcome& outcome = finding.outcome;
  SONDE_TRY_ASSIGN(outcome.verdict, verdictOf(given.verdict));
  outcome.message = textOrEmpty(given.message);
  if (outcome.message.empty())
    return mistake("the finding has no message");
  SONDE_TRY_ASSIGN(outcome.value, numberOf(given, SONDE_HAS_VALUE, given.value));
  SONDE_TRY_ASSIGN(outcome.threshold, numberOf(given, SONDE_HAS_THRESHOLD, given.threshold));
  outcome.samples = given.samples;
  if (given.to_ns != 0)
    outcome.time = TimeRange{given.from_ns, given.to_ns};
  outcome.query = textOrEmpty(given.query);
  outcome.hint = textOrEmpty(given.hint);
  if (given.evidence_count > kMostEvidence ||
      (given.evidence_count > 0 && given.evidence == nullptr))
    return mistake(fmt::format("its evidence is missing, or more than {}", kMostEvidence));
  for (std::size_t i = 0; i < given.evidence_count; ++i) {
    SONDE_TRY(plugins::checkName(fmt::format("evidence {}", i + 1), given.evidence[i].name, "_"));
    SONDE_TRY_ASSIGN(outcome.evidence[given.evidence[i].name], evidenceOf(given.evidence[i]));
  }
  return finding;
}

int reportFinding(const sonde_trace* table, const sonde_finding* finding) {
  return guarded(table, "report", [&](const JudgedTrace& judged) -> Result<void> {
    if (finding == nullptr)
      return mistake("the finding is a null pointer");
    if (judged.findings.size() == kMostPluginFindings)
      return mistake(fmt::format("there are more than {} findings", kMostPluginFindings));
    SONDE_TRY_ASSIGN(Finding found, findingOf(*finding));
    judged.findings.push_back(std::move(found));
    return {};
  });
}

int failBecause(const sonde_trace* table, const char* reason) {
  return guarded(table, "fail", [&](const JudgedTrace&) -> Result<void> {
    return mistake(reason == nullptr ? "the reason is a null pointer" : textOrEmpty(reason));
  });
}

JudgedTrace::JudgedTrace(const store::Database& of)
    : sonde_trace{.abi = SONDE_RULE_ABI,
                  .size = sizeof(sonde_trace),
                  .query = queryTrace,
                  .report = reportFinding,
                  .fail = failBecause},
      trace(of) {}

}  // namespace

Result<std::vector<Finding>> judgeByPlugin(const sonde_rule& rule,
                                           const std::vector<sonde_rule_value>& values,
                                           const store::Database& trace) {
  JudgedTrace judged(trace);
  int result = 0;
  try {
    result = rule.judge(&judged, values.data());
  } catch (const std::exception& thrown) {
    failWith(judged, "judge", mistake("it threw an exception: " + textOrEmpty(thrown.what())));
  } catch (...) {
    failWith(judged, "judge", mistake("it threw an exception"));
  }
  if (judged.error)
    return *judged.error;
  if (result != 0)
    return mistake(fmt::format("judge: it failed with {} and no reason", result));
  if (judged.findings.empty()) {
    judged.findings.push_back({"job", {}});
    judged.findings.back().outcome.verdict = Verdict::Pass;
    judged.findings.back().outcome.message = "the rule found nothing";
  }
  return std::move(judged.findings);
}

}  // namespace sonde::rules
