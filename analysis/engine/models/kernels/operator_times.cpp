#include "analysis/engine/models/kernels/operator_times.h"

#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace sonde::engine::models {
namespace {

struct OperatorRow {
  std::int64_t id = 0;
  std::int64_t ns = 0;
  std::string name;
  std::string shapes;
  std::string types;

  SONDE_COLUMNS(id, ns, name, shapes, types)
};

struct KernelScope {
  std::int64_t id = 0;
  std::int64_t scopeId = 0;

  SONDE_COLUMNS(id, scopeId)
};

// A kernel's operator is the innermost one around its launch.
constexpr const char* kOfKernels =
    "SELECT s.id, s.name_id, SUM(k.dur_ns) AS ns FROM kernel k LEFT JOIN slice l ON l.id = "
    "k.launch_slice_id JOIN slice s ON s.id = coalesce(k.scope_id, l.scope_id) WHERE s.kind = "
    "'operator' AND k.dur_ns > 0 AND k.id NOT IN (SELECT kernel_id FROM collective WHERE kernel_id "
    "IS NOT NULL) GROUP BY s.id";
constexpr const char* kScopesOfKernels =
    "SELECT k.id, coalesce(k.scope_id, l.scope_id) AS scope_id FROM kernel k LEFT JOIN slice l ON "
    "l.id = k.launch_slice_id WHERE coalesce(k.scope_id, l.scope_id) NOTNULL";
constexpr const char* kOfThreads =
    "SELECT s.id, s.name_id, s.dur_ns - ifnull(i.ns, 0) AS ns FROM slice s LEFT JOIN (SELECT "
    "parent_id, SUM(dur_ns) AS ns FROM slice WHERE kind = 'operator' GROUP BY parent_id) i ON "
    "i.parent_id = s.id WHERE s.kind = 'operator' AND s.dur_ns > 0";

constexpr const char* kAllOperators =
    "SELECT id, name_id, dur_ns AS ns FROM slice WHERE kind = 'operator' AND dur_ns > 0";

// Recorded operators have their sizes as arguments of their own, imported ones as members of
// `args`.
constexpr const char* kWithInputs =
    "WITH timed AS MATERIALIZED ({}) SELECT t.id, t.ns, n.text AS name, ifnull((SELECT value FROM "
    "arg WHERE owner = 'slice' AND owner_id = t.id AND key_id = (SELECT id FROM string WHERE text "
    "= 'shapes')), json_extract(a.value, '$.\"Input Dims\"')) AS shapes, ifnull((SELECT value FROM "
    "arg WHERE owner = 'slice' AND owner_id = t.id AND key_id = (SELECT id FROM string WHERE text "
    "= 'dtypes')), json_extract(a.value, '$.\"Input type\"')) AS types FROM timed t JOIN string n "
    "ON n.id = t.name_id LEFT JOIN arg a ON a.owner = 'slice' AND a.owner_id = t.id AND a.key_id = "
    "(SELECT id FROM string WHERE text = 'args') AND json_valid(a.value)";

// 0: the inputs are none that parse, or have no tensor.
double largestOf(const OperatorRow& row) {
  double most = 0;
  if (const auto inputs = parseInputs(row.shapes, row.types))
    for (const OperatorInput& input : *inputs)
      for (const Sizes& each : input.tensors)
        most = std::max(most, elementsOf(each));
  return most;
}

}  // namespace

Result<OperatorTimes> readOperatorTimes(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const std::int64_t hasKernels,
                   trace.queryInteger("SELECT EXISTS (SELECT 1 FROM kernel)"));
  OperatorTimes found{.isOnDevice = hasKernels != 0, .operators = {}};
  using Inputs = std::tuple<std::string, std::string, std::string>;
  std::map<Inputs, std::optional<OperatorWork>> known;
  const std::string sql =
      fmt::format(fmt::runtime(kWithInputs), found.isOnDevice ? kOfKernels : kOfThreads);
  SONDE_TRY(store::forEach<OperatorRow>(trace, sql, [&](const OperatorRow& row) {
    if (row.shapes.empty() || row.ns <= 0)
      return;
    const auto [at, isNew] = known.try_emplace(Inputs{row.name, row.shapes, row.types});
    if (isNew)
      if (const auto inputs = parseInputs(row.shapes, row.types))
        at->second = workOf(row.name, *inputs);
    if (at->second)
      found.operators.push_back({row.id, *at->second, static_cast<double>(row.ns)});
  }));
  return found;
}

Result<std::unordered_map<std::int64_t, std::size_t>> operatorsOfKernels(
    const store::Database& trace, const OperatorTimes& times) {
  std::unordered_map<std::int64_t, std::size_t> bySlice;
  for (std::size_t at = 0; at < times.operators.size(); ++at)
    bySlice.emplace(times.operators[at].slice, at);
  std::unordered_map<std::int64_t, std::size_t> found;
  SONDE_TRY(store::forEach<KernelScope>(trace, kScopesOfKernels, [&](const KernelScope& row) {
    if (const auto at = bySlice.find(row.scopeId); at != bySlice.end())
      found.emplace(row.id, at->second);
  }));
  return found;
}

Result<std::unordered_map<std::int64_t, double>> largestInputs(const store::Database& trace) {
  std::unordered_map<std::int64_t, double> found;
  std::map<std::pair<std::string, std::string>, double> known;
  const std::string sql = fmt::format(fmt::runtime(kWithInputs), kAllOperators);
  SONDE_TRY(store::forEach<OperatorRow>(trace, sql, [&](const OperatorRow& row) {
    if (row.shapes.empty())
      return;
    const auto [at, isNew] = known.try_emplace(std::pair(row.shapes, row.types));
    if (isNew)
      at->second = largestOf(row);
    if (at->second > 0)
      found.emplace(row.id, at->second);
  }));
  return found;
}

std::vector<KernelPoint> pointsOf(const OperatorTimes& times) {
  using Key = std::tuple<KernelKind, std::string, std::string, double, double>;
  std::map<Key, std::vector<double>> byWork;
  for (const OperatorTime& each : times.operators) {
    const OperatorWork& work = each.work;
    byWork[{work.kind, work.op, work.type, work.flops, work.bytes}].push_back(each.ns);
  }
  std::vector<KernelPoint> points;
  for (auto& [key, all] : byWork) {
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    const auto& [kind, op, type, flops, bytes] = key;
    points.push_back(
        {{.kind = kind, .op = op, .type = type, .flops = flops, .bytes = bytes}, *middle});
  }
  return points;
}

std::vector<KernelModel> fitKernelModels(const OperatorTimes& times) {
  constexpr std::int64_t kEnough = 6;  // sizes of an operator
  std::map<std::pair<KernelKind, std::string>, std::map<std::string, std::vector<KernelPoint>>>
      byKind;
  for (KernelPoint& each : pointsOf(times))
    byKind[{each.work.kind, each.work.type}][each.work.op].push_back(std::move(each));
  std::vector<KernelModel> fitted;
  for (const auto& [kind, byOperator] : byKind) {
    std::vector<KernelPoint> all;
    for (const auto& [op, points] : byOperator)
      all.insert(all.end(), points.begin(), points.end());
    const KernelModel ofAll = fitKernels(all, times.isOnDevice);
    fitted.push_back(ofAll);
    for (const auto& [op, points] : byOperator) {
      KernelModel own = fitKernels(points, times.isOnDevice);
      own.op = op;
      if (byOperator.size() > 1 && own.sizes >= kEnough && own.isErrorMeasured &&
          own.error < ofAll.error)
        fitted.push_back(std::move(own));
    }
  }
  return fitted;
}

}  // namespace sonde::engine::models
