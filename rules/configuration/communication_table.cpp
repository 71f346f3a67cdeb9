#include "rules/configuration/communication_table.h"

#include "rules/configuration/place.h"

#include <fmt/format.h>

namespace sonde::rules {
namespace {

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

Result<std::vector<std::string>> communicationIn(const toml::table& file, const std::string& path) {
  std::vector<std::string> patterns;
  const toml::node* const table = file.get("communication");
  if (table == nullptr)
    return patterns;
  if (!table->is_table())
    return at(path, table->source(), "'communication' must be a table: write [communication]");
  for (const auto& [key, node] : *table->as_table()) {
    if (key.str() != "kernels")
      return at(path, key.source(), fmt::format("unknown key '{}': use kernels", key.str()));
    SONDE_TRY_ASSIGN(patterns, patternsIn(node, path));
  }
  return patterns;
}

}  // namespace sonde::rules
