#include "analysis/engine/whatif/ranks/batch_share.h"

#include "analysis/engine/whatif/primitives.h"
#include "analysis/engine/whatif/selector.h"
#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace sonde::engine::whatif {
namespace {

struct NameRow {
  std::string name;

  SONDE_COLUMNS(name)
};
constexpr const char* kOptimizers =
    "SELECT DISTINCT n.text AS name FROM slice s JOIN string n ON n.id = s.name_id WHERE s.kind = "
    "'optimizer' OR (s.kind = 'operation' AND n.text = 'optimizer')";

// The error of the assumption that time is in proportion to samples, for each doubling.
constexpr double kErrorOfDoubling = 0.05;

// Scales what matches, if anything does.
Result<void> scaleIfAny(Asking& asking, const std::vector<Condition>& conditions, double factor) {
  Result<void> done = scale({"work", conditions}, factor)(asking);
  return !done && done.error().code == ErrorCode::NotFound ? Result<void>() : done;
}

}  // namespace

Result<void> shareBatch(Asking& asking, double factor) {
  const graph::Graph& graph = asking.scenario.graph();
  const bool hasDevices =
      std::any_of(graph.lanes.begin(), graph.lanes.end(), [](const graph::Lane& each) {
        return each.kind == graph::LaneKind::Stream;
      });
  std::vector<std::string> optimizers;
  SONDE_TRY(store::forEach<NameRow>(
      asking.trace, kOptimizers, [&](const NameRow& row) { optimizers.push_back(row.name); }));
  const std::vector<std::string> kinds =
      hasDevices ? std::vector<std::string>{"kernel", "copy"} : std::vector<std::string>{"host"};
  for (const std::string& kind : kinds) {
    SONDE_TRY(scaleIfAny(asking, {{Key::Kind, kind}}, factor));
    for (const std::string& name : optimizers)
      SONDE_TRY(scaleIfAny(asking, {{Key::Kind, kind}, {Key::Operation, name}}, 1 / factor));
  }
  if (hasDevices)
    SONDE_TRY(scaleIfAny(asking, {{Key::Kind, "data_load"}}, factor));
  asking.orderError = std::max(asking.orderError, kErrorOfDoubling * std::abs(std::log2(factor)));
  asking.notes.push_back(fmt::format(
      "each rank has {:.3g} times as many samples, and computes in proportion to them", factor));
  return {};
}

}  // namespace sonde::engine::whatif
