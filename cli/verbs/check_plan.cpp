#include "cli/verbs/check_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde::cli {
namespace {

// The table with the records of a probe whose slices do not have its name as category.
constexpr std::pair<std::string_view, std::string_view> kTables[] = {{"annotation", "iteration"},
                                                                     {"annotation", "scalar"},
                                                                     {"cuda", "kernel"},
                                                                     {"io", "io"},
                                                                     {"memory", "allocation"},
                                                                     {"net", "transfer"},
                                                                     {"stack", "stack_sample"},
                                                                     {"sync", "handoff"},
                                                                     {"system", "sample"},
                                                                     {"tensor", "tensor"}};

Result<bool> anyRow(const store::Database& trace, const std::string& select) {
  const auto found = trace.queryInteger(select + " LIMIT 1");
  if (!found && found.error().code != ErrorCode::NotFound)
    return found.error();
  return static_cast<bool>(found);
}

class RecordedProbes {
 public:
  explicit RecordedProbes(const store::Database& trace) : trace_(&trace) {}

  Result<bool> has(const std::string& probe) {
    const auto known = known_.find(probe);
    if (known != known_.end())
      return known->second;
    SONDE_TRY_ASSIGN(const bool found, find(probe));
    known_[probe] = found;
    return found;
  }

 private:
  Result<bool> find(const std::string& probe) const {
    for (const auto& [name, table] : kTables)
      if (name == probe) {
        SONDE_TRY_ASSIGN(const bool found, anyRow(*trace_, fmt::format("SELECT 1 FROM {}", table)));
        if (found)
          return true;
      }
    std::string quoted;
    for (const char each : probe)
      quoted += each == '\'' ? std::string("''") : std::string(1, each);
    return anyRow(*trace_, fmt::format("SELECT 1 FROM slice WHERE category = '{}'", quoted));
  }

  const store::Database* trace_;
  std::map<std::string, bool> known_;
};

std::vector<std::string> wordsOf(const std::string& list) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    words.push_back(list.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return words;
}

std::string changedParameters(const rules::ConfiguredRule& rule) {
  std::vector<std::string> changed;
  for (const rules::ParameterSpec& spec : rule.info->parameters) {
    const rules::ParameterValue& value = rule.parameters.values().at(spec.name);
    if (value != spec.fallback)
      changed.push_back(fmt::format("{} = {}", spec.name, rules::textOf(value)));
  }
  return fmt::format("{}", fmt::join(changed, ", "));
}

Cell textOrNone(const std::string& text) {
  return text.empty() ? Cell() : Cell(text);
}

}  // namespace

Result<Table> checkPlan(const rules::Configuration& configuration, const store::Database& trace) {
  Table table{{textColumn("rule", "rule"),
               textColumn("severity", "severity"),
               textColumn("needs", "needs"),
               textColumn("recorded", "in the trace"),
               textColumn("parameters", "changed parameters")},
              {}};
  RecordedProbes probes(trace);
  for (const rules::ConfiguredRule& rule : configuration.rules) {
    std::vector<std::string> recorded;
    for (const std::string& probe : wordsOf(rule.info->needs)) {
      SONDE_TRY_ASSIGN(const bool has, probes.has(probe));
      if (has)
        recorded.push_back(probe);
    }
    const std::string found = recorded.empty() && !rule.info->needs.empty()
                                  ? std::string("nothing")
                                  : fmt::format("{}", fmt::join(recorded, ","));
    table.rows.push_back({rule.info->name,
                          std::string(rules::wordOf(rule.severity)),
                          textOrNone(rule.info->needs),
                          textOrNone(found),
                          textOrNone(changedParameters(rule))});
  }
  return table;
}

}  // namespace sonde::cli
