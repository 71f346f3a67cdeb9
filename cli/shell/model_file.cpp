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
using engine::models::KernelForm;
using engine::models::KernelModel;
using engine::models::ModelSet;
using engine::models::OpModel;
using engine::models::SizeError;
using nlohmann::json;

constexpr int kModelSchema = 1;
constexpr const char* kModelFile = "a model file of sonde microbench";

// The numbers of a model, none of which is below 0.
template <typename Model>
struct NumberKey {
  const char* key;
  double Model::*value;
};
constexpr std::array kNumbers = {
    NumberKey<CollectiveModel>{"step_ns", &CollectiveModel::stepNs},
    NumberKey<CollectiveModel>{"byte_ns", &CollectiveModel::byteNs},
    NumberKey<CollectiveModel>{"call_ns", &CollectiveModel::callNs},
    NumberKey<CollectiveModel>{"payload_byte_ns", &CollectiveModel::payloadNs},
    NumberKey<CollectiveModel>{"error", &CollectiveModel::error},
    NumberKey<CollectiveModel>{"log_error", &CollectiveModel::logError},
    NumberKey<CollectiveModel>{"least_bytes", &CollectiveModel::leastPayload},
    NumberKey<CollectiveModel>{"most_bytes", &CollectiveModel::mostPayload}};

constexpr std::array kKernelNumbers = {
    NumberKey<KernelModel>{"fixed_ns", &KernelModel::fixedNs},
    NumberKey<KernelModel>{"flop_ns", &KernelModel::flopNs},
    NumberKey<KernelModel>{"byte_ns", &KernelModel::byteNs},
    NumberKey<KernelModel>{"scale", &KernelModel::scale},
    NumberKey<KernelModel>{"flop_power", &KernelModel::flopPower},
    NumberKey<KernelModel>{"byte_power", &KernelModel::bytePower},
    NumberKey<KernelModel>{"error", &KernelModel::error},
    NumberKey<KernelModel>{"log_error", &KernelModel::logError},
    NumberKey<KernelModel>{"least_bytes", &KernelModel::leastBytes},
    NumberKey<KernelModel>{"most_bytes", &KernelModel::mostBytes}};

json jsonOf(const KernelModel& of) {
  json row = {{"kind", wordOf(of.kind)},
              {"op", of.op},
              {"type", of.type},
              {"device", of.isOnDevice},
              {"form", of.form == KernelForm::Roofline ? "roofline" : "power"},
              {"sizes", of.sizes},
              {"is_error_measured", of.isErrorMeasured}};
  for (const auto& each : kKernelNumbers)
    row[each.key] = of.*each.value;
  return row;
}

json jsonOf(const OpModel& of) {
  json row = {{"op", of.op},
              {"device", of.isOnDevice},
              {"ranks", of.model.ranks},
              {"sizes", of.model.sizes},
              {"is_error_measured", of.model.isErrorMeasured},
              {"other_ranks", json::array()}};
  for (const auto& each : kNumbers)
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

Result<bool> boolAt(const json& row, const char* key) {
  return valueOf<bool>(row, key, row.at(key).is_boolean(), "true or false");
}

Result<std::string> textAt(const json& row, const char* key, const char* expected) {
  return valueOf<std::string>(row, key, row.at(key).is_string(), expected);
}

Result<CollectiveModel> modelOf(const json& row) {
  CollectiveModel model;
  for (const auto& each : kNumbers) {
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
  SONDE_TRY_ASSIGN(model.isErrorMeasured, boolAt(row, "is_error_measured"));
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

Result<KernelModel> kernelModelOf(const json& row) {
  KernelModel model;
  constexpr const char* kKinds = "matrix, convolution, attention or memory";
  SONDE_TRY_ASSIGN(const std::string kind, textAt(row, "kind", kKinds));
  const auto known = engine::models::kernelKindOf(kind);
  if (!known)
    return wrongKey("kind", row.at("kind"), kKinds);
  model.kind = *known;
  SONDE_TRY_ASSIGN(model.op, textAt(row, "op", "an operator"));
  SONDE_TRY_ASSIGN(model.type, textAt(row, "type", "a type of elements"));
  SONDE_TRY_ASSIGN(model.isOnDevice, boolAt(row, "device"));
  SONDE_TRY_ASSIGN(const std::string form, textAt(row, "form", "roofline or power"));
  if (form != "roofline" && form != "power")
    return wrongKey("form", row.at("form"), "roofline or power");
  model.form = form == "power" ? KernelForm::Power : KernelForm::Roofline;
  for (const auto& each : kKernelNumbers) {
    SONDE_TRY_ASSIGN(model.*each.value, numberAt(row, each.key));
  }
  SONDE_TRY_ASSIGN(
      model.sizes,
      valueOf<std::int64_t>(row, "sizes", row.at("sizes").is_number_integer(), "a whole number"));
  SONDE_TRY_ASSIGN(model.isErrorMeasured, boolAt(row, "is_error_measured"));
  return model;
}

// Files of earlier releases have no models of operators.
Result<std::vector<KernelModel>> kernelModelsOf(const json& document) {
  std::vector<KernelModel> found;
  if (!document.contains("kernels"))
    return found;
  const json& rows = document.at("kernels");
  if (!rows.is_array())
    return wrongKey("kernels", rows, "a list of models");
  for (const json& row : rows) {
    SONDE_TRY_ASSIGN(KernelModel model, kernelModelOf(row));
    found.push_back(std::move(model));
  }
  return found;
}

Result<ModelSet> modelsOf(const json& document) {
  ModelSet found;
  try {
    if (const json& schema = document.at("schema"); schema != kModelSchema)
      return wrongKey("schema", schema, std::to_string(kModelSchema).c_str());
    const json& rows = document.at("models");
    SONDE_TRY_ASSIGN(found.kernels, kernelModelsOf(document));
    if (!rows.is_array() || (rows.empty() && found.kernels.empty()))
      return wrongKey("models", rows, "a list of models");
    for (const json& row : rows) {
      OpModel& of = found.collectives.emplace_back();
      SONDE_TRY_ASSIGN(of.op, textAt(row, "op", "a collective's word"));
      SONDE_TRY_ASSIGN(of.isOnDevice, boolAt(row, "device"));
      SONDE_TRY_ASSIGN(of.model, modelOf(row));
    }
  } catch (const json::exception& error) {
    return Error{ErrorCode::Corrupt, reasonOf(error)};
  }
  return found;
}

}  // namespace

std::string modelFileOf(const ModelSet& fitted) {
  json document = {{"schema", kModelSchema}, {"models", json::array()}, {"kernels", json::array()}};
  for (const OpModel& each : fitted.collectives)
    document["models"].push_back(jsonOf(each));
  for (const KernelModel& each : fitted.kernels)
    document["kernels"].push_back(jsonOf(each));
  return dumpJson(document);
}

Result<ModelSet> readModelFile(const std::string& path) {
  SONDE_TRY_ASSIGN(const json document, readJsonFile(path, kModelFile));
  auto found = modelsOf(document);
  if (!found)
    return errorOfFile(path, kModelFile, found.error());
  return found;
}

Result<ModelSet> givenModels(const std::string& path) {
  return path.empty() ? Result(ModelSet()) : readModelFile(path);
}

}  // namespace sonde::cli
