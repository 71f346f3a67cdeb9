#include "rules/configuration.h"

#include "base/suggest.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

namespace sonde::rules {
namespace {

constexpr std::string_view kCommunication =
    "communication";  // the other table that a file may have
constexpr std::string_view kProfiles[] = {"ci", "performance"};

Error at(const std::string& path, const toml::source_position& place, std::string_view message) {
  return {ErrorCode::InvalidArgument,
          fmt::format("{}:{}:{}: {}", path, place.line, place.column, message)};
}

Error at(const std::string& path, const toml::source_region& region, std::string_view message) {
  return at(path, region.begin, message);
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
  return profile == "ci" ? Severity::Error : Severity::Warning;
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
  Result<ConfiguredRule> readRule(const toml::key& key, const toml::node& setting) const;
  Result<const RuleInfo*> ruleOf(const toml::key& key) const;
  Result<Severity> severityAt(const toml::node& node) const;
  Result<void> readTable(ConfiguredRule& rule, const toml::table& table) const;

  const std::string& path_;
  Severity fallback_;
};

Result<const RuleInfo*> Reader::ruleOf(const toml::key& key) const {
  const std::string name(key.str());
  for (const RuleInfo& rule : builtinRules())
    if (rule.name == name)
      return &rule;
  std::vector<std::string> names;
  for (const RuleInfo& rule : builtinRules())
    names.push_back(rule.name);
  const RuleInfo* byAlias = findRule(name);
  const std::string nearest = byAlias != nullptr ? byAlias->name : nearestWord(name, names);
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
    return at(
        path_, node.source(), R"(a severity is expected: use "off", "info", "warning" or "error")");
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
    if (key.str() != "rules" && key.str() != kCommunication)
      return at(path_,
                key.source(),
                fmt::format("unknown key '{}': put rules into a table [rules]", key.str()));
  const toml::node* node = file.get("rules");
  if (node == nullptr)
    return at(path_,
              toml::source_position{1, 1},
              "there is no table [rules]: add one with the rules to run");
  if (!node->is_table())
    return at(path_, node->source(), "'rules' must be a table: write [rules]");
  return node->as_table();
}

Result<ConfiguredRule> Reader::readRule(const toml::key& key, const toml::node& setting) const {
  SONDE_TRY_ASSIGN(const RuleInfo* info, ruleOf(key));
  ConfiguredRule rule{info, fallback_, Parameters(info->parameters)};
  if (const auto* table = setting.as_table()) {
    SONDE_TRY(readTable(rule, *table));
  } else {
    SONDE_TRY_ASSIGN(rule.severity, severityAt(setting));
  }
  return rule;
}

Result<Configuration> Reader::read(const toml::table& file) const {
  SONDE_TRY_ASSIGN(const toml::table* rules, rulesTable(file));
  Configuration configuration;
  for (const auto& [key, setting] : *rules) {
    SONDE_TRY_ASSIGN(ConfiguredRule rule, readRule(key, setting));
    if (rule.severity != Severity::Off)
      configuration.push_back(std::move(rule));
  }
  std::sort(configuration.begin(), configuration.end(), [](const auto& a, const auto& b) {
    return a.info->name < b.info->name;
  });
  return configuration;
}

Result<toml::table> parseToml(std::string_view text, const std::string& path) {
  try {
    return toml::parse(text, std::string_view(path));
  } catch (const toml::parse_error& error) {
    return at(path, error.source(), fmt::format("{}: correct the TOML there", error.description()));
  }
}

Result<std::vector<std::string>> patternsIn(const toml::node& kernels, const std::string& path) {
  const auto wrong = [&](const toml::node& node) {
    return at(path,
              node.source(),
              "'kernels' must be a list of strings: write kernels = [\"my_allreduce*\"]");
  };
  const toml::array* const list = kernels.as_array();
  if (list == nullptr)
    return wrong(kernels);
  std::vector<std::string> patterns;
  for (const toml::node& node : *list) {
    const auto* const text = node.as_string();
    if (text == nullptr || text->get().empty())
      return wrong(node);
    patterns.push_back(text->get());
  }
  return patterns;
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
    if (key.str() != "rules" && key.str() != kCommunication)
      return at(
          path, key.source(), fmt::format("unknown table '{}': use [communication]", key.str()));
  const toml::node* const table = file.get(kCommunication);
  if (table == nullptr)
    return at(path, toml::source_position{1, 1}, "there is no table [communication]: add one");
  if (!table->is_table())
    return at(path, table->source(), "'communication' must be a table: write [communication]");
  std::vector<std::string> patterns;
  for (const auto& [key, node] : *table->as_table()) {
    if (key.str() != "kernels")
      return at(path, key.source(), fmt::format("unknown key '{}': use kernels", key.str()));
    SONDE_TRY_ASSIGN(patterns, patternsIn(node, path));
  }
  return patterns;
}

Result<Configuration> defaultConfiguration(std::string_view profile) {
  SONDE_TRY(checkProfile(profile));
  Configuration configuration;
  for (const RuleInfo& rule : builtinRules())
    if (profile.empty() || rule.profile == profile)
      configuration.push_back({&rule, defaultSeverity(profile), Parameters(rule.parameters)});
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
