#include "rules/configuration/plugin_table.h"

#include "rules/configuration/place.h"
#include "rules/custom/plugin_rules.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <utility>

namespace sonde::rules {
namespace {

constexpr std::string_view kFilesExpected =
    R"('files' must be a list of shared objects: write files = ["./libmine.so"])";

Result<OwnedRules> readFile(const toml::node& file, const std::string& path) {
  const auto* const text = file.as_string();
  if (text == nullptr || text->get().empty())
    return at(path, file.source(), kFilesExpected);
  auto rules = loadPluginRules(std::filesystem::path(path).parent_path() / text->get());
  if (!rules)
    return at(path, file.source(), rules.error().message);
  return *std::move(rules);
}

}  // namespace

Result<OwnedRules> readPluginTable(const toml::node& table, const std::string& path) {
  if (!table.is_table())
    return at(path, table.source(), "'plugins' must be a table: write [plugins]");
  OwnedRules all;
  std::set<std::string> names;
  for (const auto& [key, value] : *table.as_table()) {
    if (key.str() != "files")
      return at(path, key.source(), fmt::format("unknown key '{}': use files", key.str()));
    if (!value.is_array())
      return at(path, value.source(), kFilesExpected);
    for (const toml::node& file : *value.as_array()) {
      SONDE_TRY_ASSIGN(OwnedRules rules, readFile(file, path));
      for (auto& rule : rules) {
        if (!names.insert(rule->name).second)
          return at(path,
                    file.source(),
                    fmt::format("two plugins have a rule '{}': leave one out", rule->name));
        all.push_back(std::move(rule));
      }
    }
  }
  return all;
}

}  // namespace sonde::rules
