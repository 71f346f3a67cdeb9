// The rules feature-importance-overweight and tree-depth: boosted trees, by scalars that the
// program records.
#include "rules/builtin/series.h"
#include "rules/builtin/training/training_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace sonde::rules {
namespace {

struct Importance {
  std::string feature;
  SeriesValue value;  // the newest
};

std::vector<Importance> importancesOf(const ProcessView& view, const std::string& prefix) {
  std::vector<Importance> all;
  for (const auto& [name, series] : view.process().scalars)
    if (name.size() > prefix.size() && name.compare(0, prefix.size(), prefix) == 0)
      if (const auto values = view.scalar(name); !values.empty())
        all.push_back({name.substr(prefix.size()), values.back()});
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.value.value > b.value.value;
  });
  return all;
}

Outcome judgeShares(Outcome outcome,
                    const std::vector<Importance>& all,
                    const Parameters& parameters) {
  const auto count = static_cast<std::size_t>(parameters.integer("nfeatures"));
  double sum = 0;
  double top = 0;
  std::vector<std::string> names;
  for (const Importance& each : all) {
    if (names.size() < count) {
      names.push_back(each.feature);
      top += each.value.value;
    }
    sum += each.value.value;
  }
  if (sum <= 0) {
    outcome.message = "all importances are 0, so they have no shares";
    return outcome;
  }
  outcome.value = top / sum;
  outcome.threshold = parameters.real("threshold");
  outcome.verdict = *outcome.value > *outcome.threshold ? Verdict::Fired : Verdict::Pass;
  outcome.evidence["features"] = names;
  outcome.message = fmt::format("{} have {:.3g} % of the importance of {} features",
                                fmt::join(names, ", "),
                                100 * *outcome.value,
                                all.size());
  return outcome;
}

Outcome judgeImportance(const ProcessView& view, const Parameters& parameters) {
  const std::string& prefix = parameters.text("prefix");
  const auto all = importancesOf(view, prefix);
  if (all.empty())
    return scalarMissing(view, prefix + "NAME", "prefix");
  Outcome outcome;
  outcome.samples = static_cast<std::int64_t>(all.size());
  const auto [first, last] =
      std::minmax_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return a.value.iteration < b.value.iteration;
      });
  outcome.window = windowOf(first->value.iteration, last->value.iteration);
  for (const Importance& each : all)
    if (!(std::isfinite(each.value.value) && each.value.value >= 0)) {
      outcome.message = fmt::format(
          "the importance of '{}' is {} at iteration {}: record numbers "
          "from 0 on",
          each.feature,
          each.value.value,
          each.value.iteration);
      return outcome;
    }
  if (static_cast<std::int64_t>(all.size()) <= parameters.integer("nfeatures")) {
    outcome.verdict = Verdict::Skipped;
    outcome.message = fmt::format("{} features are not more than nfeatures", all.size());
    return outcome;
  }
  return judgeShares(std::move(outcome), all, parameters);
}

Outcome judgeDepth(const ProcessView& view, const Parameters& parameters) {
  const std::string& scalar = parameters.text("scalar");
  const auto depths = newest(view.scalar(scalar), 1);
  if (depths.empty())
    return scalarMissing(view, scalar, "scalar");
  Outcome outcome = outcomeOf(depths);
  const SeriesValue& depth = depths.back();
  if (!std::isfinite(depth.value)) {
    outcome.message =
        fmt::format("'{}' is {} at iteration {}", scalar, depth.value, depth.iteration);
    return outcome;
  }
  outcome.value = depth.value;
  outcome.threshold = parameters.real("depth");
  outcome.verdict = depth.value > *outcome.threshold ? Verdict::Fired : Verdict::Pass;
  outcome.message =
      fmt::format("'{}' is {:g} at iteration {}", scalar, depth.value, depth.iteration);
  return outcome;
}

}  // namespace

RuleInfo featureImportanceOverweight() {
  RuleInfo info;
  info.name = "feature-importance-overweight";
  info.alias = "FeatureImportanceOverweight";
  info.profile = Profile::Ci;
  info.isOptional = true;
  info.summary = "few features have most of the importance";
  info.details =
      "Takes the newest value of each scalar feature_importance/NAME. Fires if the greatest "
      "`nfeatures` of them are more than\n"
      "the share `threshold` of their sum. With no more than `nfeatures` features the rule is "
      "skipped.";
  info.needs = "annotation";
  info.hint = "check that these features do not leak the label";
  info.next = {
      "sonde sql TRACE \"SELECT s.iteration, n.text, s.value FROM scalar s JOIN string n ON "
      "n.id = s.name_id WHERE n.text LIKE 'feature_importance/%' ORDER BY 1 DESC, 3 DESC\""};
  info.parameters = {
      {"prefix", std::string("feature_importance/"), "start of the scalars' names"},
      {"nfeatures", std::int64_t{3}, "number of features with the greatest importance", 1, 1e6},
      {"threshold", 0.8, "greatest healthy share of them", 0, 1}};
  info.judge = ProcessJudge(judgeImportance);
  return info;
}

RuleInfo treeDepth() {
  RuleInfo info;
  info.name = "tree-depth";
  info.alias = "TreeDepth";
  info.profile = Profile::Ci;
  info.isOptional = true;
  info.summary = "a tree is too deep";
  info.details =
      "Fires if the newest value of the scalar `scalar` is above `depth`. Record the depth of the "
      "newest tree, for XGBoost\n"
      "floor(log2(greatest node id + 1)); the root alone has depth 0.";
  info.needs = "annotation";
  info.hint = "limit the depth (max_depth), or prune: deep trees overfit";
  info.next = {
      "sonde sql TRACE \"SELECT s.iteration, s.value FROM scalar s JOIN string n ON n.id = "
      "s.name_id WHERE n.text = 'tree_depth'\""};
  info.parameters = {{"scalar", std::string("tree_depth"), "name of the scalar with the depth"},
                     {"depth", 4.0, "greatest healthy depth", 0, 1e6}};
  info.judge = ProcessJudge(judgeDepth);
  return info;
}

}  // namespace sonde::rules
