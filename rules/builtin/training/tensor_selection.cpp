#include "rules/builtin/training/tensor_selection.h"

#include "rules/builtin/series.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

namespace sonde::rules {
namespace {

bool isMatch(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

}  // namespace

std::vector<ParameterSpec> tensorParameters(const std::string& collection) {
  return {{"collection", collection, "collections of tensors to judge, a shell pattern"},
          {"tensors", std::string("*"), "names of tensors to judge, a shell pattern"}};
}

std::vector<SelectedTensor> selectedTensors(const ProcessView& view, const Parameters& parameters) {
  std::vector<SelectedTensor> selected;
  for (const TensorSeries& series : view.process().tensors) {
    if (!isMatch(parameters.text("collection"), series.collection) ||
        !isMatch(parameters.text("tensors"), series.name))
      continue;
    if (const auto values = view.of(series); !values.empty())
      selected.push_back({&series, values});
  }
  return selected;
}

std::vector<SelectedTensor> tensorsCalled(const ProcessView& view, const std::string& pattern) {
  std::vector<SelectedTensor> called;
  for (const TensorSeries& series : view.process().tensors) {
    if (series.role == "weight" || series.role == "gradient" ||
        (fnmatch(pattern.c_str(), series.name.c_str(), FNM_CASEFOLD) != 0 &&
         fnmatch(pattern.c_str(), series.collection.c_str(), FNM_CASEFOLD) != 0))
      continue;
    if (const auto values = view.of(series); !values.empty())
      called.push_back({&series, values});
  }
  return called;
}

std::vector<SelectedTensor> newestValues(std::vector<SelectedTensor> tensors, std::int64_t count) {
  for (SelectedTensor& each : tensors)
    each.values = newest(each.values, count);
  return tensors;
}

Outcome tensorsMissing(const ProcessView& view, const Parameters& parameters) {
  Outcome outcome;
  const bool anyRecorded = !view.process().tensors.empty();
  outcome.inputMissing = true;
  outcome.message =
      anyRecorded
          ? fmt::format(
                "no tensor '{}' of the collection '{}' in {} iterations: record it with "
                "--tensors, or set the parameters collection and tensors",
                parameters.text("tensors"),
                parameters.text("collection"),
                view.ended())
          : fmt::format("no tensors in {} iterations: record them with sonde run --sources +tensor",
                        view.ended());
  return outcome;
}

std::string nameOf(const TensorSeries& series) {
  return fmt::format("{} ({})", series.name, series.collection);
}

Outcome outcomeOf(const std::vector<SelectedTensor>& tensors) {
  Outcome outcome;
  if (tensors.empty())
    return outcome;
  std::int64_t first = tensors.front().values.front().iteration;
  std::int64_t last = first;
  for (const SelectedTensor& each : tensors) {
    outcome.samples += static_cast<std::int64_t>(each.values.size());
    first = std::min(first, each.values.front().iteration);
    last = std::max(last, each.values.back().iteration);
  }
  outcome.window = windowOf(first, last);
  return outcome;
}

}  // namespace sonde::rules
