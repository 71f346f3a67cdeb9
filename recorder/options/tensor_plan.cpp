#include "recorder/options/tensor_plan.h"

#include "base/suggest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace sonde::recorder {
namespace {

using Json = nlohmann::json;

const std::vector<std::string> kBuiltIn = {
    "weights", "gradients", "inputs", "outputs", "activations", "losses"};
// The plan is passed in the environment, where 128 KiB would prevent any program from starting.
constexpr std::size_t kMostBytes = 64 << 10;
constexpr std::int64_t kEvery = 100;  // iterations; default

// Reads one value of a key; an Error names the expected kind.
using Read = Result<Json> (*)(const toml::node& node);

Error expected(std::string_view what) {
  return Error{ErrorCode::InvalidArgument, fmt::format("{} is expected", what)};
}

Result<Json> readCount(const toml::node& node) {
  const auto* number = node.as_integer();
  if (number == nullptr || number->get() < 0)
    return expected("a whole number from 0 on");
  return Json(number->get());
}

Result<Json> readFlag(const toml::node& node) {
  const auto* flag = node.as_boolean();
  return flag == nullptr ? Result<Json>(expected("true or false")) : Json(flag->get());
}

Result<Json> readTexts(const toml::node& node) {
  if (const auto* text = node.as_string())
    return Json::array({text->get()});
  Json texts = Json::array();
  const auto* list = node.as_array();
  if (list == nullptr)
    return expected("a string, or a list of strings,");
  for (const toml::node& item : *list) {
    if (!item.is_string())
      return expected("a list of strings");
    texts.push_back(item.as_string()->get());
  }
  return texts;
}

Result<Json> readBuiltIns(const toml::node& node) {
  SONDE_TRY_ASSIGN(Json words, readTexts(node));
  for (const auto& word : words) {
    const auto text = word.get<std::string>();
    if (std::find(kBuiltIn.begin(), kBuiltIn.end(), text) == kBuiltIn.end())
      return expected(fmt::format("some of {}, not '{}',", fmt::join(kBuiltIn, ", "), text));
  }
  return words;
}

Result<Json> readCounts(const toml::node& node) {
  const auto* list = node.as_array();
  if (list == nullptr)
    return expected("a list of iterations");
  Json counts = Json::array();
  for (const toml::node& item : *list) {
    SONDE_TRY_ASSIGN(Json count, readCount(item));
    counts.push_back(std::move(count));
  }
  return counts;
}

const std::map<std::string, Read, std::less<>> kSchedule = {{"every", readCount},
                                                            {"start", readCount},
                                                            {"end", readCount},
                                                            {"iterations", readCounts},
                                                            {"save", readFlag}};
const std::map<std::string, Read, std::less<>> kSelection = {
    {"of", readBuiltIns}, {"include", readTexts}, {"exclude", readTexts}};
const std::map<std::string, Read, std::less<>> kGeneral = {{"first-nan", readFlag},
                                                           {"save-limit-mib", readCount}};

Json allBuiltIn(const Json& defaults) {
  Json collections = Json::array();
  for (const std::string& name : kBuiltIn) {
    collections.push_back(defaults);
    collections.back()["name"] = name;
    collections.back()["implied"] = true;  // not requested by name
    collections.back()["of"] = Json::array({name});
  }
  return collections;
}

class PlanReader {
 public:
  explicit PlanReader(const std::string& path) : path_(path) {}

  Result<Json> read(const toml::table& file) const;

 private:
  using Keys = std::vector<const std::map<std::string, Read, std::less<>>*>;

  Error at(const toml::source_position& place, std::string_view message) const {
    return {ErrorCode::InvalidArgument,
            fmt::format("{}:{}:{}: {}", path_, place.line, place.column, message)};
  }
  Result<void> readKey(const Keys& keys,
                       const toml::key& key,
                       const toml::node& node,
                       Json& into) const;
  Result<Json> readCollection(const toml::key& key,
                              const toml::table& table,
                              const Json& defaults) const;

  const std::string& path_;
};

Result<void> PlanReader::readKey(const Keys& keys,
                                 const toml::key& key,
                                 const toml::node& node,
                                 Json& into) const {
  std::vector<std::string> names;
  for (const auto* some : keys) {
    const auto found = some->find(key.str());
    if (found == some->end()) {
      for (const auto& [name, read] : *some)
        names.push_back(name);
      continue;
    }
    auto value = found->second(node);
    if (!value)
      return at(node.source().begin, fmt::format("{}: {}", key.str(), value.error().message));
    into[found->first] = *std::move(value);
    return {};
  }
  const std::string nearest = nearestWord(std::string(key.str()), names);
  return at(key.source().begin,
            fmt::format("unknown key '{}': {}",
                        key.str(),
                        nearest.empty() ? fmt::format("use one of {}", fmt::join(names, ", "))
                                        : fmt::format("did you mean '{}'?", nearest)));
}

Result<Json> PlanReader::readCollection(const toml::key& key,
                                        const toml::table& table,
                                        const Json& defaults) const {
  Json collection = defaults;
  collection["name"] = std::string(key.str());
  if (std::find(kBuiltIn.begin(), kBuiltIn.end(), key.str()) != kBuiltIn.end())
    collection["of"] = Json::array({std::string(key.str())});
  for (const auto& [name, node] : table)
    SONDE_TRY(readKey({&kSchedule, &kSelection}, name, node, collection));
  if (!collection.contains("of"))
    return at(key.source().begin,
              fmt::format("the collection '{}' lacks of = \"…\", which names its tensors: {}",
                          key.str(),
                          fmt::join(kBuiltIn, ", ")));
  return collection;
}

Result<Json> PlanReader::read(const toml::table& file) const {
  const auto* tensors = file["tensors"].as_table();
  for (const auto& [key, node] : file) {
    if (key.str() != "tensors" || !node.is_table())
      return at(key.source().begin, "only a table [tensors] is expected here");
  }
  if (tensors == nullptr)
    return at({1, 1}, "there is no table [tensors]");
  Json plan{{"first-nan", false}};
  Json defaults{{"every", kEvery}, {"start", 0}};
  for (const auto& [key, node] : *tensors) {
    if (!node.is_table())
      SONDE_TRY(readKey(
          {&kSchedule, &kGeneral}, key, node, kGeneral.contains(key.str()) ? plan : defaults));
  }
  Json collections = Json::array();
  for (const auto& [key, node] : *tensors) {
    if (!node.is_table())
      continue;
    SONDE_TRY_ASSIGN(Json collection, readCollection(key, *node.as_table(), defaults));
    collections.push_back(std::move(collection));
  }
  if (defaults.value("save", false))
    plan["save-given"] = true;  // the tensors of sonde.tensor(), which no table describes
  plan["collections"] = collections.empty() ? allBuiltIn(defaults) : std::move(collections);
  return plan;
}

}  // namespace

Result<std::string> parseTensorPlan(const std::string& text, const std::string& path) {
  try {
    SONDE_TRY_ASSIGN(const Json plan, PlanReader(path).read(toml::parse(text, path)));
    std::string given = plan.dump();
    if (given.size() > kMostBytes)
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("{}: {} bytes are too many, the limit is {}: select iterations by "
                               "every, start and end instead of one by one",
                               path,
                               given.size(),
                               kMostBytes)};
    return given;
  } catch (const toml::parse_error& error) {
    const auto& place = error.source().begin;
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{}:{}:{}: {}: correct the TOML there",
                             path,
                             place.line,
                             place.column,
                             error.description())};
  } catch (const Json::exception& error) {
    return Error{ErrorCode::InvalidArgument, fmt::format("{}: {}", path, error.what())};
  }
}

Result<std::string> readTensorPlan(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file)
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("cannot read {}: give --tensors a file that exists", path)};
  return parseTensorPlan(text.str(), path);
}

}  // namespace sonde::recorder
