#include "rules/configuration/sql_tables.h"

#include "rules/configuration/place.h"
#include "rules/custom/sql_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde::rules {
namespace {

constexpr std::string_view kKeys[] = {
    "query", "severity", "summary", "hint", "requires", "time_limit_s", "parameters"};

class SqlReader {
 public:
  SqlReader(const std::string& path, Severity fallback) : path_(path), fallback_(fallback) {}

  Result<ConfiguredRule> read(const toml::key& key,
                              const toml::node& node,
                              std::shared_ptr<const RuleInfo>& owner) const {
    const std::string name(key.str());
    SONDE_TRY(checkName(key, name));
    const auto* const table = node.as_table();
    if (table == nullptr)
      return at(path_, node.source(), fmt::format("'{0}' must be a table: write [sql.{0}]", name));
    for (const auto& [each, value] : *table)
      if (std::find(std::begin(kKeys), std::end(kKeys), each.str()) == std::end(kKeys))
        return at(
            path_,
            each.source(),
            fmt::format(
                "unknown key '{}': a rule in SQL has {}", each.str(), fmt::join(kKeys, ", ")));
    SqlRule rule;
    rule.name = name;
    SONDE_TRY_ASSIGN(rule.query.sql, textOf(*table, "query"));
    if (rule.query.sql.empty())
      return at(path_, table->source(), fmt::format("[sql.{}] needs 'query', a SELECT", name));
    SONDE_TRY_ASSIGN(rule.summary, textOf(*table, "summary"));
    if (rule.summary.empty())
      rule.summary = "the statement of " + name + " has rows";
    SONDE_TRY_ASSIGN(rule.hint, textOf(*table, "hint"));
    SONDE_TRY_ASSIGN(rule.needsData, textOf(*table, "requires"));
    SONDE_TRY(readLimit(*table, rule));
    SONDE_TRY(readParameters(*table, rule));
    SONDE_TRY_ASSIGN(const Severity severity, severityOfTable(*table));
    auto info = makeSqlRule(rule);
    if (!info)
      return at(path_,
                table->get("query")->source(),
                fmt::format("rule {}: {}: correct the SQL; docs/schema.md has the views",
                            name,
                            info.error().message));
    owner = *std::move(info);
    return ConfiguredRule{owner.get(), severity, Parameters({})};
  }

 private:
  Result<void> checkName(const toml::key& key, const std::string& name) const {
    if (findRule(name) != nullptr)
      return at(path_,
                key.source(),
                fmt::format("'{}' is a rule of Sonde: give yours another name", name));
    const bool isPlain = !name.empty() && std::all_of(name.begin(), name.end(), [](char letter) {
      return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-';
    });
    if (isPlain)
      return {};
    return at(
        path_,
        key.source(),
        fmt::format("'{}' is no name of a rule: use lower-case letters, digits and '-'", name));
  }

  Result<std::string> textOf(const toml::table& table, std::string_view key) const {
    const toml::node* const node = table.get(key);
    if (node == nullptr)
      return std::string();
    if (const auto* text = node->as_string())
      return text->get();
    return at(path_, node->source(), fmt::format("'{}' must be a text", key));
  }

  Result<Severity> severityOfTable(const toml::table& table) const {
    const toml::node* const node = table.get("severity");
    if (node == nullptr)
      return fallback_;
    const auto* const text = node->as_string();
    const auto severity = text == nullptr ? std::nullopt : severityOf(text->get());
    if (!severity)
      return at(path_, node->source(), kSeverityExpected);
    return *severity;
  }

  Result<void> readLimit(const toml::table& table, SqlRule& rule) const {
    const toml::node* const node = table.get("time_limit_s");
    if (node == nullptr)
      return {};
    const auto seconds = node->value<double>();
    if (!node->is_number() || !seconds || !(*seconds > 0 && *seconds <= 3600))
      return at(path_, node->source(), "a number of seconds up to 3600 is expected");
    rule.query.limit = std::chrono::milliseconds(static_cast<std::int64_t>(1000 * *seconds));
    return {};
  }

  Result<void> readParameters(const toml::table& table, SqlRule& rule) const {
    const toml::node* const node = table.get("parameters");
    if (node == nullptr)
      return {};
    if (!node->is_table())
      return at(path_, node->source(), "'parameters' must be a table: parameters = { limit = 3 }");
    for (const auto& [key, value] : *node->as_table()) {
      auto& parameter = rule.query.parameters[std::string(key.str())];
      if (const auto* integer = value.as_integer())
        parameter = integer->get();
      else if (const auto* real = value.as_floating_point())
        parameter = real->get();
      else if (const auto* text = value.as_string())
        parameter = text->get();
      else
        return at(path_, value.source(), "a parameter must be a number or a text");
    }
    return {};
  }

  const std::string& path_;
  Severity fallback_;
};

}  // namespace

Result<void> readSqlTables(const toml::node& sql,
                           const std::string& path,
                           Severity fallback,
                           Configuration& configuration) {
  if (!sql.is_table())
    return at(path, sql.source(), "'sql' must be a table of rules: write [sql.NAME]");
  const SqlReader reader(path, fallback);
  for (const auto& [key, node] : *sql.as_table()) {
    const bool isOfPlugin = std::any_of(configuration.custom.begin(),
                                        configuration.custom.end(),
                                        [&](const auto& rule) { return rule->name == key.str(); });
    if (isOfPlugin)
      return at(path,
                key.source(),
                fmt::format("'{}' is also a rule of a plugin: give one another name", key.str()));
    std::shared_ptr<const RuleInfo> owner;
    SONDE_TRY_ASSIGN(ConfiguredRule rule, reader.read(key, node, owner));
    if (rule.severity == Severity::Off)
      continue;
    configuration.custom.push_back(std::move(owner));
    configuration.rules.push_back(std::move(rule));
  }
  return {};
}

}  // namespace sonde::rules
