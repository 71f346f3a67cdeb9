#include "cli/shell/model_file.h"

#include "cli/shell/json_file.h"
#include "cli/text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <utility>

namespace sonde::cli {
namespace {

using engine::models::CollectiveModel;
using engine::models::OpModel;
using engine::models::SizeError;
using nlohmann::json;

constexpr int kModelSchema = 1;
constexpr const char* kModelFile = "a model file of sonde microbench";

// The numbers of a model, none of which is below 0.
struct NumberKey {
  const char* key;
  double CollectiveModel::*value;
};
constexpr std::array kNumbers = {NumberKey{"step_ns", &CollectiveModel::stepNs},
                                 NumberKey{"byte_ns", &CollectiveModel::byteNs},
                                 NumberKey{"call_ns", &CollectiveModel::callNs},
                                 NumberKey{"payload_byte_ns", &CollectiveModel::payloadNs},
                                 NumberKey{"error", &CollectiveModel::error},
                                 NumberKey{"log_error", &CollectiveModel::logError},
                                 NumberKey{"least_bytes", &CollectiveModel::leastPayload},
                                 NumberKey{"most_bytes", &CollectiveModel::mostPayload}};

json jsonOf(const OpModel& of) {
  json row = {{"op", of.op},
              {"device", of.isOnDevice},
              {"ranks", of.model.ranks},
              {"sizes", of.model.sizes},
              {"is_error_measured", of.model.isErrorMeasured},
              {"other_ranks", json::array()}};
  for (const NumberKey& each : kNumbers)
    row[each.key] = of.model.*each.value;
  for (const SizeError& each : of.model.otherRanks)
    row["other_ranks"].push_back({{"bytes", each.payload}, {"log_error", each.logError}});
  return row;
}

Error wrongKey(const std::string& key, const json& value, const char* expected) {
  return {ErrorCode::Corrupt, fmt::format("`{}` is {}: expected {}", key, value.dump(), expected)};
}

// The value of a key, with an error that names it. nlohmann throws if the key is missing.
template <typename T>
Result<T> valueOf(const json& row, const char* key, bool isRight, const char* expected) {
  const json& value = row.at(key);
  if (!isRight)
    return wrongKey(key, value, expected);
  return value.get<T>();
}

Result<double> numberAt(const json& row, const char* key) {
  const json& value = row.at(key);
  const bool isRight =
      value.is_number() && std::isfinite(value.get<double>()) && value.get<double>() >= 0;
  return valueOf<double>(row, key, isRight, "a number from 0 on");
}

Result<CollectiveModel> modelOf(const json& row) {
  CollectiveModel model;
  for (const NumberKey& each : kNumbers) {
    SONDE_TRY_ASSIGN(model.*each.value, numberAt(row, each.key));
  }
  const json& ranks = row.at("ranks");
  const auto isRank = [](const json& each) {
    return each.is_number_integer() && each.get<std::int64_t>() > 1;
  };
  if (!ranks.is_array() || ranks.empty() || !std::all_of(ranks.begin(), ranks.end(), isRank))
    return wrongKey("ranks", ranks, "a list of whole numbers from 2 on");
  model.ranks = ranks.get<std::set<std::int64_t>>();
  SONDE_TRY_ASSIGN(
      model.sizes,
      valueOf<std::int64_t>(row, "sizes", row.at("sizes").is_number_integer(), "a whole number"));
  SONDE_TRY_ASSIGN(
      model.isErrorMeasured,
      valueOf<bool>(
          row, "is_error_measured", row.at("is_error_measured").is_boolean(), "true or false"));
  const json& others = row.at("other_ranks");
  if (!others.is_array())
    return wrongKey("other_ranks", others, "a list");
  for (const json& each : others) {
    SizeError& error = model.otherRanks.emplace_back();
    SONDE_TRY_ASSIGN(error.payload, numberAt(each, "bytes"));
    SONDE_TRY_ASSIGN(error.logError, numberAt(each, "log_error"));
  }
  return model;
}

Result<std::vector<OpModel>> modelsOf(const json& document) {
  std::vector<OpModel> found;
  try {
    if (const json& schema = document.at("schema"); schema != kModelSchema)
      return wrongKey("schema", schema, std::to_string(kModelSchema).c_str());
    const json& rows = document.at("models");
    if (!rows.is_array() || rows.empty())
      return wrongKey("models", rows, "a list of models");
    for (const json& row : rows) {
      OpModel& of = found.emplace_back();
      SONDE_TRY_ASSIGN(
          of.op, valueOf<std::string>(row, "op", row.at("op").is_string(), "a collective's word"));
      SONDE_TRY_ASSIGN(
          of.isOnDevice,
          valueOf<bool>(row, "device", row.at("device").is_boolean(), "true or false"));
      SONDE_TRY_ASSIGN(of.model, modelOf(row));
    }
  } catch (const json::exception& error) {
    return Error{ErrorCode::Corrupt, reasonOf(error)};
  }
  return found;
}

}  // namespace

std::string modelFileOf(const std::vector<OpModel>& fitted) {
  json document = {{"schema", kModelSchema}, {"models", json::array()}};
  for (const OpModel& each : fitted)
    document["models"].push_back(jsonOf(each));
  return dumpJson(document);
}

Result<std::vector<OpModel>> readModelFile(const std::string& path) {
  SONDE_TRY_ASSIGN(const json document, readJsonFile(path, kModelFile));
  auto found = modelsOf(document);
  if (!found)
    return errorOfFile(path, kModelFile, found.error());
  return found;
}

}  // namespace sonde::cli
