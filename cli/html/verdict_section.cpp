// The verdicts of rules: what fired, what could not be judged, and the rest as counts.
#include "cli/html/html_sections.h"
#include "cli/html/html_table.h"
#include "rules/engine/rule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace sonde::cli {
namespace {

using rules::CheckReport;
using rules::CheckResult;
using rules::Verdict;

// More findings of one rule are only named.
constexpr std::size_t kCardsOfARule = 4;
constexpr std::size_t kNamedEntities = 20;
constexpr std::size_t kListedEntities = 4;  // of one group

using Results = std::vector<const CheckResult*>;

Results resultsOf(const CheckReport& check, Verdict verdict) {
  Results found;
  for (const CheckResult& result : check.results)
    if (result.outcome.verdict == verdict)
      found.push_back(&result);
  std::stable_sort(found.begin(), found.end(), [](const CheckResult* a, const CheckResult* b) {
    return a->severity > b->severity;
  });
  return found;
}

// Results of a rule with the same message, as for equal ranks.
struct Group {
  const CheckResult* first = nullptr;
  std::vector<std::string> all;  // entities

  std::string entities() const {
    return all.size() <= kListedEntities
               ? fmt::format("{}", fmt::join(all, ", "))
               : fmt::format("{} and {} more", all.front(), all.size() - 1);
  }
};

std::vector<Group> groupsOf(const Results& results) {
  std::vector<Group> groups;
  for (const CheckResult* result : results) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.first->rule == result->rule && group.first->suppressed == result->suppressed &&
             group.first->outcome.message == result->outcome.message;
    });
    if (same == groups.end())
      groups.push_back({result, {result->entity}});
    else
      same->all.push_back(result->entity);
  }
  return groups;
}

std::string evidenceText(const rules::EvidenceValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    return humanCount(*integer);
  if (const auto* real = std::get_if<double>(&value))
    return fmt::format("{:.6g}", *real);
  if (const auto* text = std::get_if<std::string>(&value))
    return *text;
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value))
    return fmt::format("{}", fmt::join(*integers, ", "));
  return fmt::format("{}", fmt::join(std::get<std::vector<std::string>>(value), ", "));
}

// A duration in ns is shown with its unit.
std::string evidenceText(const std::string& key, const rules::EvidenceValue& value) {
  const bool isNs = key.ends_with("_ns") || key == "ns";
  const bool isBytes = key.ends_with("_bytes") || key == "bytes";
  std::int64_t number = 0;
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    number = *integer;
  else if (const auto* real = std::get_if<double>(&value);
           real != nullptr && std::abs(*real) < 9e18)
    number = static_cast<std::int64_t>(*real);
  else
    return evidenceText(value);
  return isNs ? humanDuration(number) : isBytes ? humanBytes(number) : evidenceText(value);
}

void addEvidence(Page& page, const rules::Outcome& outcome) {
  Table table{{textColumn("key", "evidence"), textColumn("value", "value")}, {}};
  const auto add = [&](const std::string& key, const std::string& text) {
    table.rows.push_back({key, text});
  };
  if (outcome.value)
    add("value", fmt::format("{:.6g}", *outcome.value));
  if (outcome.threshold)
    add("threshold", fmt::format("{:.6g}", *outcome.threshold));
  if (!outcome.window.empty())
    add("window", outcome.window);
  if (outcome.samples > 0)
    add("samples", humanCount(outcome.samples));
  for (const auto& [key, value] : outcome.evidence)
    add(key, evidenceText(key, value));
  for (const rules::Location& each : outcome.locations)
    add("code", fmt::format("{}:{} {}", each.path, each.line, each.function));
  page.begin("details").element("summary", "Evidence").begin("div", {{"class", "evidence"}});
  addTable(page, table, table.rows.size());
  page.end().end();
}

void addCard(Page& page, const Group& group) {
  const CheckResult& result = *group.first;
  page.begin("article", {{"class", fmt::format("finding {}", rules::wordOf(result.severity))}});
  page.element("span",
               result.suppressed.empty() ? std::string(rules::wordOf(result.severity))
                                         : fmt::format("accepted: {}", result.suppressed),
               {{"class", "tag"}});
  page.begin("h3").text(result.rule).element("span", group.entities(), {{"class", "entity"}}).end();
  page.element("p", result.outcome.message);
  if (!result.outcome.hint.empty())
    page.element("p", result.outcome.hint, {{"class", "soft"}});
  addEvidence(page, result.outcome);
  if (!result.outcome.next.empty()) {
    page.begin("ul", {{"class", "next"}});
    for (const std::string& command : result.outcome.next)
      page.begin("li").element("code", command).end();
    page.end();
  }
  page.end();
}

void addCards(Page& page, const Results& results) {
  std::map<std::string, std::vector<std::string>> left;  // entities, by rule
  std::map<std::string, std::size_t> cards;
  for (const Group& group : groupsOf(results)) {
    if (cards[group.first->rule]++ < kCardsOfARule)
      addCard(page, group);
    else
      left[group.first->rule].push_back(group.entities());
  }
  for (auto& [rule, entities] : left) {
    const std::size_t count = entities.size();
    entities.resize(std::min(count, kNamedEntities));
    page.element("p",
                 fmt::format("{} has {} more findings: {}{}",
                             rule,
                             count,
                             fmt::join(entities, ", "),
                             count > kNamedEntities ? ", …" : ""),
                 {{"class", "note"}});
  }
}

std::string recordingOf(const std::string& rule) {
  const rules::RuleInfo* const info = rules::findRule(rule);
  return info == nullptr || info->needs.empty() ? "" : "--sources +" + info->needs;
}

// A row for each group.
Table tableOf(const Results& results, bool withSources) {
  Table table{
      {textColumn("rule", "rule"), textColumn("entity", "of"), textColumn("message", "why")}, {}};
  if (withSources)
    table.columns.push_back(textColumn("needs", "probes that record its input"));
  for (const Group& group : groupsOf(results)) {
    table.rows.push_back({group.first->rule, group.entities(), group.first->outcome.message});
    if (withSources)
      table.rows.back().emplace_back(recordingOf(group.first->rule));
  }
  return table;
}

void addFolded(Page& page, const std::string& summary, const Results& results, bool withSources) {
  if (results.empty())
    return;
  page.begin("details").element("summary", summary);
  addTable(page, tableOf(results, withSources), 4 * kHtmlRows);
  page.end();
}

void addTally(Page& page, const CheckReport& check) {
  page.begin("ul", {{"class", "tally"}});
  for (const Verdict verdict :
       {Verdict::Fired, Verdict::Error, Verdict::Insufficient, Verdict::Pass, Verdict::Skipped}) {
    const auto count = static_cast<std::int64_t>(resultsOf(check, verdict).size());
    const std::string word(rules::wordOf(verdict));
    page.begin("li", {{"class", count > 0 ? word : ""}})
        .element("b", humanCount(count))
        .text(word)
        .end();
  }
  page.end();
}

}  // namespace

void addVerdicts(Page& page, const CheckReport& check) {
  beginSection(page, "verdicts", "Verdicts");
  addTally(page, check);
  const Results fired = resultsOf(check, Verdict::Fired);
  const Results errors = resultsOf(check, Verdict::Error);
  Results insufficient = resultsOf(check, Verdict::Insufficient);
  Results unasked;
  std::copy_if(insufficient.begin(), insufficient.end(), std::back_inserter(unasked), [](auto* r) {
    return r->isUnasked;
  });
  std::erase_if(insufficient, [](const CheckResult* result) { return result->isUnasked; });
  if (fired.empty())
    page.element("p", "No rule fired.");
  addCards(page, fired);
  if (!errors.empty()) {
    page.element("h3", "Rules that could not be evaluated");
    addTable(page, tableOf(errors, false), 4 * kHtmlRows);
  }
  if (!insufficient.empty()) {
    page.element("h3", "Too little data to judge");
    addTable(page, tableOf(insufficient, true), 4 * kHtmlRows);
  }
  addFolded(page, "Optional rules whose input was not recorded", unasked, true);
  addFolded(page, "Rules that passed", resultsOf(check, Verdict::Pass), false);
  addFolded(page, "Rules that do not apply", resultsOf(check, Verdict::Skipped), false);
  for (const std::string& note : check.notes)
    page.element("p", note, {{"class", "note"}});
  page.end();
}

}  // namespace sonde::cli
