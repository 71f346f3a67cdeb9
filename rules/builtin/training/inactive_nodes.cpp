// The rules dead-relu and saturated-activation: most nodes of a layer are hardly ever active.
#include "rules/builtin/training/tensor_judgement.h"
#include "rules/builtin/training/training_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <nlohmann/json.hpp>

namespace sonde::rules {
namespace {

// Shares of active elements in a recording, as far as statistics can say.
struct ActiveShare {
  double atLeast;
  double atMost;
};

struct LayerQuestion {
  std::function<bool(double)> isActive;
  ActiveShare share;
  std::string activity;  // "active", "within ±8.75"
};

std::optional<std::int64_t> nodesOf(const std::vector<std::int64_t>& shape, std::int64_t axis) {
  const auto dimensions = static_cast<std::int64_t>(shape.size());
  const std::int64_t at = axis < 0 ? axis + dimensions : axis;
  if (at < 0 || at >= dimensions)
    return std::nullopt;
  return at;
}

// The share of the nodes along `axis` with a share of active elements below `least`.
double idleNodes(const SavedTensor& saved,
                 std::int64_t axis,
                 double least,
                 const std::function<bool(double)>& isActive) {
  const auto nodes = static_cast<std::size_t>(saved.shape[static_cast<std::size_t>(axis)]);
  std::size_t stride = 1;
  for (auto at = static_cast<std::size_t>(axis) + 1; at < saved.shape.size(); ++at)
    stride *= static_cast<std::size_t>(saved.shape[at]);
  std::vector<std::int64_t> active(nodes);
  for (std::size_t at = 0; at < saved.values.size(); ++at)
    if (isActive(saved.values[at]))
      ++active[at / stride % nodes];
  const double each = static_cast<double>(saved.values.size()) / static_cast<double>(nodes);
  const auto idle = std::count_if(active.begin(), active.end(), [&](std::int64_t count) {
    return static_cast<double>(count) / each < least;
  });
  return static_cast<double>(idle) / static_cast<double>(nodes);
}

TensorJudgement judgeNodes(const ProcessView& view,
                           const SelectedTensor& tensor,
                           const LayerQuestion& question,
                           const Parameters& parameters) {
  const TensorFact& at = tensor.values.back();
  const auto saved = readSavedTensor(view.process().folder, at);
  if (!saved)
    return unknown(*tensor.series, at, "cannot be read: " + saved.error().message);
  const auto axis = nodesOf(saved->shape, parameters.integer("axis"));
  if (!axis)
    return unknown(*tensor.series,
                   at,
                   fmt::format("has {} dimensions: set the parameter axis to that of its nodes",
                               saved->shape.size()));
  const double least = parameters.real("min_active");
  TensorJudgement judgement;
  judgement.series = tensor.series;
  judgement.at = &at;
  judgement.value = idleNodes(*saved, *axis, least, question.isActive);
  judgement.threshold = parameters.real("max_nodes");
  judgement.rank = 1 + judgement.value;
  if (judgement.value > judgement.threshold)
    judgement.state = TensorState::Bad;
  judgement.text = fmt::format(
      "{:.3g} % of the nodes of {} have less than {:g} % of their elements "
      "{} in iteration {}",
      100 * judgement.value,
      nameOf(*tensor.series),
      100 * least,
      question.activity,
      at.iteration);
  return judgement;
}

TensorJudgement judgeLayer(const SelectedTensor& tensor,
                           const LayerQuestion& question,
                           const Parameters& parameters) {
  const TensorFact& at = tensor.values.back();
  const double least = parameters.real("min_active");
  if (question.share.atLeast < least && question.share.atMost >= least)
    return notSaved(*tensor.series, at);
  TensorJudgement judgement;
  judgement.series = tensor.series;
  judgement.at = &at;
  judgement.value = question.share.atMost;
  judgement.threshold = least;
  judgement.rank = 1 - judgement.value;
  if (judgement.value < least)
    judgement.state = TensorState::Bad;
  judgement.text = fmt::format("{:.3g} % of the elements of {} are {} in iteration {}",
                               100 * judgement.value,
                               nameOf(*tensor.series),
                               question.activity,
                               at.iteration);
  return judgement;
}

TensorJudgement judgeActivity(const ProcessView& view,
                              const SelectedTensor& tensor,
                              const LayerQuestion& question,
                              const Parameters& parameters) {
  return tensor.values.back().file.empty() ? judgeLayer(tensor, question, parameters)
                                           : judgeNodes(view, tensor, question, parameters);
}

Outcome nobodyCalled(const ProcessView& view,
                     const std::string& patterns,
                     const std::string& what) {
  Outcome outcome;
  outcome.inputMissing = true;
  outcome.message = fmt::format(
      "no tensor or collection {} in {} iterations: name {} in a "
      "collection of the --tensors file, or set the parameters of these patterns",
      patterns,
      view.ended(),
      what);
  return outcome;
}

TensorJudgement judgeRelu(const ProcessView& view,
                          const SelectedTensor& tensor,
                          const Parameters& parameters) {
  const TensorFact& at = tensor.values.back();
  if (auto unclear = unjudgeable(*tensor.series, at))
    return *std::move(unclear);
  const double active =
      static_cast<double>(at.elements - at.zeros) / static_cast<double>(at.elements);
  return judgeActivity(
      view, tensor, {[](double x) { return x > 0; }, {active, active}, "active"}, parameters);
}

bool isReluResult(const SelectedTensor& tensor) {
  return tensor.values.back().minimum.value_or(0) >= 0;
}

Outcome judgeDeadRelu(const ProcessView& view, const Parameters& parameters) {
  auto tensors = newestValues(tensorsCalled(view, parameters.text("relu")), 1);
  if (tensors.empty())
    return nobodyCalled(
        view, fmt::format("'{}'", parameters.text("relu")), "the results of the ReLUs");
  const std::size_t called = tensors.size();
  std::erase_if(tensors, [](const SelectedTensor& each) { return !isReluResult(each); });
  if (tensors.empty()) {
    Outcome outcome;
    outcome.verdict = Verdict::Skipped;
    outcome.message = fmt::format(
        "{} tensors '{}' have negative elements: they are not results of "
        "ReLUs",
        called,
        parameters.text("relu"));
    return outcome;
  }
  std::vector<TensorJudgement> found;
  for (const SelectedTensor& each : tensors)
    if (each.values.back().elements > 0)
      found.push_back(judgeRelu(view, each, parameters));
  return conclude(tensors, std::move(found));
}

// The share of elements inside (-bound, bound), from [[end, elements up to the next end], …].
std::optional<ActiveShare> shareInside(const TensorFact& at, double bound) {
  const auto buckets = nlohmann::json::parse(at.histogram, nullptr, false);
  if (!buckets.is_array() || buckets.empty())
    return std::nullopt;
  double surely = 0;
  double maybe = 0;
  double all = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const auto& bucket = buckets[i];
    if (!bucket.is_array() || bucket.size() != 2 || !bucket[0].is_number() ||
        !bucket[1].is_number())
      return std::nullopt;
    const bool isLast = i + 1 == buckets.size();
    const double low = bucket[0].get<double>();
    const double count = bucket[1].get<double>();
    if (!isLast &&
        (!buckets[i + 1].is_array() || buckets[i + 1].empty() || !buckets[i + 1][0].is_number()))
      return std::nullopt;
    const double high = isLast ? low : buckets[i + 1][0].get<double>();
    all += count;
    if (low > -bound && high < bound)
      surely += count;
    if (high > -bound && low < bound)
      maybe += count;
  }
  if (all <= 0)
    return std::nullopt;
  return ActiveShare{surely / all, maybe / all};
}

TensorJudgement judgeSaturation(const ProcessView& view,
                                const SelectedTensor& tensor,
                                double bound,
                                const Parameters& parameters) {
  const TensorFact& at = tensor.values.back();
  if (auto unclear = unjudgeable(*tensor.series, at))
    return *std::move(unclear);
  const auto share = shareInside(at, bound);
  if (at.file.empty() && !share)
    return unknown(*tensor.series, at, "has no histogram");
  return judgeActivity(view,
                       tensor,
                       {[bound](double x) { return std::abs(x) < bound; },
                        share.value_or(ActiveShare{}),
                        fmt::format("within ±{:.4g}", bound)},
                       parameters);
}

Outcome judgeSaturated(const ProcessView& view, const Parameters& parameters) {
  const double root = 1 / std::sqrt(parameters.real("grad_eps"));
  std::vector<SelectedTensor> all;
  std::vector<double> bounds;
  // tanh'(x) = 1 / cosh²(x), sigmoid'(x) = 1 / (4 cosh²(x / 2))
  for (const auto& [parameter, bound] :
       {std::pair("tanh", std::acosh(root)), std::pair("sigmoid", 2 * std::acosh(root / 2))})
    for (const SelectedTensor& each :
         newestValues(tensorsCalled(view, parameters.text(parameter)), 1)) {
      all.push_back(each);
      bounds.push_back(bound);
    }
  if (all.empty())
    return nobodyCalled(
        view,
        fmt::format("'{}' or '{}'", parameters.text("tanh"), parameters.text("sigmoid")),
        "the inputs of these functions");
  std::vector<TensorJudgement> found;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].values.back().elements > 0)
      found.push_back(judgeSaturation(view, all[i], bounds[i], parameters));
  return conclude(all, std::move(found));
}

std::vector<ParameterSpec> nodeParameters(std::vector<ParameterSpec> own) {
  own.push_back(
      {"min_active",
       0.01,
       "a node, or a layer that is judged as a whole, is inactive with a smaller share of "
       "active elements",
       0,
       1});
  own.push_back({"max_nodes", 0.5, "greatest healthy share of inactive nodes in a layer", 0, 1});
  own.push_back({"axis",
                 std::int64_t{1},
                 "axis of the nodes or channels in saved tensors; negative: from the last one back",
                 -8,
                 7});
  return own;
}

}  // namespace

RuleInfo deadRelu() {
  RuleInfo info;
  info.name = "dead-relu";
  info.alias = "DeadRelu";
  info.profile = Profile::Ci;
  info.isOptional = true;
  info.summary = "most nodes of a ReLU layer are always 0";
  info.details =
      "A node is dead if less than the share `min_active` of its results is above 0 in the newest "
      "recording. Fires if more\n"
      "than the share `max_nodes` of a layer's nodes is dead. This needs saved tensors. Without "
      "them "
      "the layer is judged as\n"
      "a whole: it fires if less than `min_active` of all its results is above 0, and misses "
      "layers "
      "with some active nodes.";
  info.needs = "tensor";
  info.hint =
      "lower the learning rate, check the initialisation of weights and biases, or use a "
      "leaky ReLU";
  info.next = {
      "sonde sql TRACE \"SELECT t.iteration, n.text, t.zeros, t.elements FROM tensor t "
      "JOIN string n ON n.id = t.name_id WHERE t.collection = 'activations' ORDER BY 1\""};
  info.parameters = nodeParameters({{"relu",
                                     std::string("*relu*"),
                                     "names or collections of results of ReLUs, a shell pattern"}});
  info.judge = ProcessJudge(judgeDeadRelu);
  return info;
}

RuleInfo saturatedActivation() {
  RuleInfo info;
  info.name = "saturated-activation";
  info.alias = "SaturatedActivation";
  info.profile = Profile::Ci;
  info.isOptional = true;
  info.summary = "most inputs of tanh or sigmoid lie where their derivative is almost 0";
  info.details =
      "An input is active if the derivative there is above `grad_eps`: |x| < arcosh(1 / "
      "sqrt(grad_eps)) for tanh,\n"
      "|x| < 2 arcosh(1 / (2 sqrt(grad_eps))) for sigmoid. With 1e-7 these are 8.752 and 16.118. A "
      "node is saturated if less\n"
      "than the share `min_active` of its inputs is active in the newest recording. Fires if more "
      "than the share\n"
      "`max_nodes` of a layer's nodes is saturated. This needs saved tensors. Without them the "
      "layer "
      "is judged as a whole, by\n"
      "its histogram: it fires if less than `min_active` of all its inputs is active, and misses "
      "layers with some active nodes.";
  info.needs = "tensor";
  info.hint =
      "normalise the inputs of the function, check the initialisation, or lower the learning "
      "rate";
  info.next = {
      "sonde sql TRACE \"SELECT t.iteration, n.text, t.p05, t.p50, t.p95 FROM tensor t "
      "JOIN string n ON n.id = t.name_id WHERE t.collection = 'activations' ORDER BY 1\""};
  info.parameters = nodeParameters(
      {{"tanh",
        std::string("*tanh_input*"),
        "names or collections of inputs of tanh, a shell pattern"},
       {"sigmoid",
        std::string("*sigmoid_input*"),
        "names or collections of inputs of sigmoid, a shell pattern"},
       {"grad_eps", 1e-7, "a derivative at or below this counts as 0", 1e-300, 0.2}});
  info.judge = ProcessJudge(judgeSaturated);
  return info;
}

}  // namespace sonde::rules
