#include "rules/configuration/configuration.h"

#include "base/suggest.h"
#include "rules/configuration/communication_table.h"
#include "rules/configuration/place.h"
#include "rules/configuration/plugin_table.h"
#include "rules/configuration/sql_tables.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

namespace sonde::rules {
namespace {

constexpr std::string_view kRules = "rules";
constexpr std::string_view kSuppress = "suppress";
constexpr std::string_view kStop = "stop";
constexpr std::string_view kSql = "sql";
constexpr std::string_view kPlugins = "plugins";
constexpr std::string_view kCommunication = "communication";
constexpr std::string_view kProfiles[] = {"ci", "production", "performance"};

struct SignalWord {
  std::string_view word;
  int number;
};
constexpr SignalWord kSignals[] = {{"SIGHUP", SIGHUP},
                                   {"SIGINT", SIGINT},
                                   {"SIGUSR1", SIGUSR1},
                                   {"SIGUSR2", SIGUSR2},
                                   {"SIGTERM", SIGTERM}};

bool isTable(std::string_view key) {
  return key == kRules || key == kSuppress || key == kStop || key == kSql || key == kPlugins ||
         key == kCommunication;
}

Result<void> checkProfile(std::string_view profile) {
  if (profile.empty() ||
      std::find(std::begin(kProfiles), std::end(kProfiles), profile) != std::end(kProfiles))
    return {};
  return Error{
      ErrorCode::InvalidArgument,
      fmt::format("there is no profile '{}': use one of {}", profile, fmt::join(kProfiles, ", "))};
}

Severity defaultSeverity(std::string_view profile) {
  return profile == "ci" || profile == "production" ? Severity::Error : Severity::Warning;
}

bool isIn(const RuleInfo& rule, std::string_view profile, bool hasBaseline) {
  if (rule.runsByItself != RunsByItself::Always)
    return hasBaseline && rule.runsByItself == RunsByItself::WithBaseline;
  if (profile == "production")
    return rule.isForProduction;
  return profile.empty() || wordOf(rule.profile) == profile;
}

std::optional<ParameterValue> parameterOf(const toml::node& node) {
  if (const auto* integer = node.as_integer())
    return ParameterValue(integer->get());
  if (const auto* real = node.as_floating_point())
    return ParameterValue(real->get());
  if (const auto* text = node.as_string())
    return ParameterValue(text->get());
  return std::nullopt;
}

class Reader {
 public:
  Reader(const std::string& path, std::string_view profile)
      : path_(path), fallback_(defaultSeverity(profile)) {}

  Result<Configuration> read(const toml::table& file) const;

 private:
  Result<const toml::table*> rulesTable(const toml::table& file) const;
  Result<ConfiguredRule> readRule(const toml::key& key,
                                  const toml::node& setting,
                                  const OwnedRules& plugins) const;
  Result<const RuleInfo*> ruleOf(const toml::key& key, const OwnedRules& plugins) const;
  Result<Severity> severityAt(const toml::node& node) const;
  Result<void> readTable(ConfiguredRule& rule, const toml::table& table) const;
  Result<std::string> textAt(const toml::table& table,
                             std::string_view key,
                             const std::string& fallback) const;
  Result<Suppression> readSuppression(const toml::node& node) const;
  Result<std::vector<Suppression>> readSuppressions(const toml::table& file) const;
  Result<double> secondsAt(const toml::node& node) const;
  Result<int> signalAt(const toml::node& node) const;
  Result<StopSettings> readStop(const toml::table& file) const;

  const std::string& path_;
  Severity fallback_;
};

Result<const RuleInfo*> Reader::ruleOf(const toml::key& key, const OwnedRules& plugins) const {
  const std::string name(key.str());
  if (const RuleInfo* const rule = findRule(name))
    return rule;
  std::vector<std::string> names;
  for (const auto& rule : plugins) {
    if (rule->name == name)
      return rule.get();
    names.push_back(rule->name);
  }
  for (const RuleInfo& rule : builtinRules())
    names.push_back(rule.name);
  const std::string nearest = nearestWord(name, names);
  return at(path_,
            key.source(),
            fmt::format("there is no rule '{}': {}",
                        name,
                        nearest.empty() ? "`sonde rules` lists the rules"
                                        : fmt::format("did you mean '{}'?", nearest)));
}

Result<Severity> Reader::severityAt(const toml::node& node) const {
  const auto* text = node.as_string();
  const auto severity = text == nullptr ? std::nullopt : severityOf(text->get());
  if (!severity)
    return at(path_, node.source(), kSeverityExpected);
  return *severity;
}

Result<void> Reader::readTable(ConfiguredRule& rule, const toml::table& table) const {
  for (const auto& [key, node] : table) {
    if (key.str() == "severity") {
      SONDE_TRY_ASSIGN(rule.severity, severityAt(node));
      continue;
    }
    const auto value = parameterOf(node);
    if (!value)
      return at(
          path_,
          node.source(),
          fmt::format(
              "rule {}: parameter '{}' must be a number or a text", rule.info->name, key.str()));
    if (auto set = rule.parameters.set(std::string(key.str()), *value); !set)
      return at(path_,
                key.source(),
                fmt::format("rule {}: {}: see `sonde rules {}`",
                            rule.info->name,
                            set.error().message,
                            rule.info->name));
  }
  return {};
}

Result<const toml::table*> Reader::rulesTable(const toml::table& file) const {
  for (const auto& [key, node] : file)
    if (!isTable(key.str()))
      return at(path_,
                key.source(),
                fmt::format("unknown key '{}': put rules into a table [rules]", key.str()));
  const toml::node* node = file.get(kRules);
  static const toml::table kNoRules;
  if (node == nullptr && file.contains(kSql))
    return &kNoRules;
  if (node == nullptr)
    return at(path_,
              toml::source_position{1, 1},
              "there is no table [rules]: add one with the rules to run");
  if (!node->is_table())
    return at(path_, node->source(), "'rules' must be a table: write [rules]");
  return node->as_table();
}

Result<ConfiguredRule> Reader::readRule(const toml::key& key,
                                        const toml::node& setting,
                                        const OwnedRules& plugins) const {
  SONDE_TRY_ASSIGN(const RuleInfo* info, ruleOf(key, plugins));
  ConfiguredRule rule{info, fallback_, Parameters(info->parameters)};
  if (const auto* table = setting.as_table()) {
    SONDE_TRY(readTable(rule, *table));
  } else {
    SONDE_TRY_ASSIGN(rule.severity, severityAt(setting));
  }
  return rule;
}

// A text of a suppression; empty if it is left out and `fallback` is.
Result<std::string> Reader::textAt(const toml::table& table,
                                   std::string_view key,
                                   const std::string& fallback) const {
  const toml::node* const node = table.get(key);
  const auto* const text = node == nullptr ? nullptr : node->as_string();
  if (node != nullptr && (text == nullptr || text->get().empty()))
    return at(path_, node->source(), fmt::format("'{}' must be a text that is not empty", key));
  if (text == nullptr && fallback.empty())
    return at(path_, table.source(), fmt::format("a suppression needs '{}': add it", key));
  return text == nullptr ? fallback : text->get();
}

Result<Suppression> Reader::readSuppression(const toml::node& node) const {
  const auto* const table = node.as_table();
  if (table == nullptr)
    return at(path_, node.source(), "a suppression must be a table: write [[suppress]]");
  for (const auto& [key, value] : *table)
    if (key.str() != "rule" && key.str() != "entity" && key.str() != "reason" &&
        key.str() != "until")
      return at(path_,
                key.source(),
                fmt::format("unknown key '{}': a suppression has rule, entity, reason and until",
                            key.str()));
  Suppression suppression;
  SONDE_TRY_ASSIGN(suppression.rule, textAt(*table, "rule", ""));
  SONDE_TRY_ASSIGN(suppression.entity, textAt(*table, "entity", "*"));
  SONDE_TRY_ASSIGN(suppression.reason, textAt(*table, "reason", ""));
  const toml::node* const until = table->get("until");
  if (until == nullptr || !until->is_date())
    return at(path_,
              until == nullptr ? table->source() : until->source(),
              "a suppression needs its last day: write until = 2027-01-31, without quotes");
  const toml::date day = until->as_date()->get();
  suppression.until = fmt::format("{:04}-{:02}-{:02}", day.year, day.month, day.day);
  return suppression;
}

Result<std::vector<Suppression>> Reader::readSuppressions(const toml::table& file) const {
  std::vector<Suppression> suppressions;
  const toml::node* const node = file.get(kSuppress);
  if (node == nullptr)
    return suppressions;
  const auto* const list = node->as_array();
  if (list == nullptr)
    return at(path_, node->source(), "'suppress' must be a list of tables: write [[suppress]]");
  for (const toml::node& each : *list) {
    SONDE_TRY_ASSIGN(Suppression suppression, readSuppression(each));
    suppressions.push_back(std::move(suppression));
  }
  return suppressions;
}

Result<double> Reader::secondsAt(const toml::node& node) const {
  const auto seconds = node.value<double>();
  if (!node.is_number() || !seconds || !(*seconds >= 0 && *seconds <= 86'400))
    return at(path_, node.source(), "a number of seconds from 0 to 86400 is expected");
  return *seconds;
}

Result<int> Reader::signalAt(const toml::node& node) const {
  const auto* const text = node.as_string();
  for (const SignalWord& each : kSignals)
    if (text != nullptr && text->get() == each.word)
      return each.number;
  return at(path_,
            node.source(),
            "a signal is expected: \"SIGUSR1\", \"SIGUSR2\", \"SIGHUP\", \"SIGINT\" or "
            "\"SIGTERM\"");
}

Result<StopSettings> Reader::readStop(const toml::table& file) const {
  StopSettings stop;
  const toml::node* const node = file.get(kStop);
  if (node == nullptr)
    return stop;
  if (!node->is_table())
    return at(path_, node->source(), "'stop' must be a table: write [stop]");
  for (const auto& [key, value] : *node->as_table()) {
    if (key.str() == "checkpoint_signal") {
      SONDE_TRY_ASSIGN(stop.checkpointSignal, signalAt(value));
    } else if (key.str() == "checkpoint_wait_s") {
      SONDE_TRY_ASSIGN(stop.checkpointWait, secondsAt(value));
    } else if (key.str() == "grace_s") {
      SONDE_TRY_ASSIGN(stop.grace, secondsAt(value));
    } else {
      return at(path_,
                key.source(),
                fmt::format("unknown key '{}': [stop] has checkpoint_signal, checkpoint_wait_s and "
                            "grace_s",
                            key.str()));
    }
  }
  return stop;
}

Result<Configuration> Reader::read(const toml::table& file) const {
  SONDE_TRY_ASSIGN(const toml::table* rules, rulesTable(file));
  Configuration configuration;
  if (const toml::node* const plugins = file.get(kPlugins)) {
    SONDE_TRY_ASSIGN(configuration.custom, readPluginTable(*plugins, path_));
  }
  const OwnedRules plugins = configuration.custom;
  std::set<std::string> named;
  for (const auto& [key, setting] : *rules) {
    SONDE_TRY_ASSIGN(ConfiguredRule rule, readRule(key, setting, plugins));
    if (!named.insert(rule.info->name).second)
      return at(path_,
                key.source(),
                fmt::format("the rule '{}' is there twice, also by its alias: keep one",
                            rule.info->name));
    if (rule.severity != Severity::Off)
      configuration.rules.push_back(std::move(rule));
  }
  const toml::node* const sql = file.get(kSql);
  if (rules->empty() && (sql == nullptr || (sql->is_table() && sql->as_table()->empty())))
    return at(path_,
              file.contains(kRules) ? rules->source().begin : toml::source_position{1, 1},
              "the file has no rule: add one to [rules], such as step-outlier = \"warning\"");
  if (sql != nullptr)
    SONDE_TRY(readSqlTables(*sql, path_, fallback_, configuration));
  std::sort(configuration.rules.begin(),
            configuration.rules.end(),
            [](const auto& a, const auto& b) { return a.info->name < b.info->name; });
  SONDE_TRY_ASSIGN(configuration.suppressions, readSuppressions(file));
  SONDE_TRY_ASSIGN(configuration.stop, readStop(file));
  SONDE_TRY_ASSIGN(configuration.communication, communicationIn(file, path_));
  return configuration;
}

Result<toml::table> parseToml(std::string_view text, const std::string& path) {
  try {
    return toml::parse(text, std::string_view(path));
  } catch (const toml::parse_error& error) {
    return at(path, error.source(), fmt::format("{}: correct the TOML there", error.description()));
  }
}

}  // namespace

Result<std::vector<std::string>> readCommunication(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream)
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("cannot read {}: give --config a file that exists", path)};
  SONDE_TRY_ASSIGN(const toml::table file, parseToml(text.str(), path));
  for (const auto& [key, node] : file)
    if (!isTable(key.str()))
      return at(
          path, key.source(), fmt::format("unknown table '{}': use [communication]", key.str()));
  if (!file.contains(kCommunication))
    return at(path, toml::source_position{1, 1}, "there is no table [communication]: add one");
  return communicationIn(file, path);
}

Result<Configuration> defaultConfiguration(std::string_view profile, bool hasBaseline) {
  SONDE_TRY(checkProfile(profile));
  Configuration configuration;
  for (const RuleInfo& rule : builtinRules())
    if (isIn(rule, profile, hasBaseline))
      configuration.rules.push_back(
          {&rule, defaultSeverity(profile), Parameters(rule.parameters), false});
  return configuration;
}

Result<Configuration> parseConfiguration(std::string_view text,
                                         const std::string& path,
                                         std::string_view profile) {
  SONDE_TRY(checkProfile(profile));
  SONDE_TRY_ASSIGN(const toml::table file, parseToml(text, path));
  return Reader(path, profile).read(file);
}

Result<Configuration> readConfiguration(const std::string& path, std::string_view profile) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file)
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("cannot read the rules file {}: give --rules a file that exists", path)};
  return parseConfiguration(text.str(), path, profile);
}

}  // namespace sonde::rules
