#include "rules/builtin/training/class_samples.h"

#include "rules/builtin/series.h"
#include "rules/builtin/training/tensor_selection.h"
#include "rules/facts/saved_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace sonde::rules {
namespace {

constexpr std::size_t kMostClasses = 10'000;
constexpr double kMostClass = 9e15;  // whole numbers up to here are exact

// Recordings of all tensors that the pattern matches, by iteration, then time.
std::vector<const TensorFact*> recordingsOf(const ProcessView& view, const std::string& pattern) {
  std::vector<const TensorFact*> all;
  for (const SelectedTensor& each : tensorsCalled(view, pattern))
    for (const TensorFact& value : each.values)
      all.push_back(&value);
  std::stable_sort(all.begin(), all.end(), [](const auto* a, const auto* b) {
    return std::tie(a->iteration, a->tsNs) < std::tie(b->iteration, b->tsNs);
  });
  return all;
}

// The predictions of the same iteration at the same place.
const TensorFact* partnerOf(const std::vector<const TensorFact*>& labels,
                            std::size_t at,
                            const std::vector<const TensorFact*>& predictions) {
  const std::int64_t iteration = labels[at]->iteration;
  std::size_t before = 0;
  while (before < at && labels[at - before - 1]->iteration == iteration)
    ++before;
  const auto first = std::lower_bound(
      predictions.begin(),
      predictions.end(),
      iteration,
      [](const TensorFact* each, std::int64_t number) { return each->iteration < number; });
  const auto left = static_cast<std::size_t>(predictions.end() - first);
  if (before >= left || first[static_cast<std::ptrdiff_t>(before)]->iteration != iteration)
    return nullptr;
  return first[static_cast<std::ptrdiff_t>(before)];
}

Error unusable(std::string message) {
  return {ErrorCode::InvalidArgument, std::move(message)};
}

Result<std::vector<std::int64_t>> classesOf(const std::vector<double>& values,
                                            const std::string& what) {
  std::vector<std::int64_t> classes;
  classes.reserve(values.size());
  for (const double value : values) {
    if (!(std::abs(value) <= kMostClass) || std::trunc(value) != value)
      return unusable(fmt::format("{} have the element {}, which is not a class", what, value));
    classes.push_back(static_cast<std::int64_t>(value));
  }
  return classes;
}

// The place of the greatest score in each row.
Result<std::vector<std::int64_t>> greatestOf(const SavedTensor& scores, std::size_t rows) {
  const std::size_t width = scores.values.size() / rows;
  std::vector<std::int64_t> classes;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto begin = scores.values.begin() + static_cast<std::ptrdiff_t>(row * width);
    const auto end = begin + static_cast<std::ptrdiff_t>(width);
    if (std::any_of(begin, end, [](double score) { return std::isnan(score); }))
      return unusable("predictions have a NaN");
    classes.push_back(std::max_element(begin, end) - begin);
  }
  return classes;
}

Result<std::vector<std::int64_t>> predictedOf(const SavedTensor& saved, std::size_t labels) {
  if (saved.values.size() == labels)
    return classesOf(saved.values, "predictions");
  if (saved.shape.size() == 2 && saved.shape[0] == static_cast<std::int64_t>(labels))
    return greatestOf(saved, labels);
  return unusable(fmt::format(
      "there are {} labels, but predictions of shape [{}]", labels, fmt::join(saved.shape, ", ")));
}

Result<void> addRecording(const std::filesystem::path& folder,
                          const TensorFact& labels,
                          const TensorFact* predictions,
                          ClassSamples& samples) {
  SONDE_TRY_ASSIGN(const SavedTensor saved, readSavedTensor(folder, labels));
  SONDE_TRY_ASSIGN(const auto classes, classesOf(saved.values, "labels"));
  for (const std::int64_t each : classes)
    ++samples.labels[each];
  samples.outcome.samples += static_cast<std::int64_t>(classes.size());
  if (samples.labels.size() > kMostClasses)
    return unusable(fmt::format("there are more than {} classes of labels", kMostClasses));
  if (predictions == nullptr || classes.empty())
    return {};
  SONDE_TRY_ASSIGN(const SavedTensor guesses, readSavedTensor(folder, *predictions));
  SONDE_TRY_ASSIGN(const auto predicted, predictedOf(guesses, classes.size()));
  for (std::size_t at = 0; at < classes.size(); ++at)
    ++samples.predictions[{classes[at], predicted[at]}];
  return {};
}

void setMissing(const ProcessView& view, const std::string& pattern, ClassSamples& samples) {
  samples.outcome.inputMissing = true;
  samples.outcome.message = fmt::format(
      "no saved tensor or collection '{0}' in {1} iterations: record them with "
      "sonde.tensor(\"{0}\", …) and save = true in [tensors] of the --tensors file",
      pattern,
      view.ended());
}

bool isSaved(const std::vector<const TensorFact*>& recordings) {
  return !recordings.empty() &&
         std::all_of(recordings.begin(), recordings.end(), [](const TensorFact* each) {
           return !each->file.empty() || each->elements == 0;
         });
}

}  // namespace

std::vector<ParameterSpec> classParameters() {
  return {{"labels", std::string("labels"), "name or collection of the labels, a shell pattern"},
          {"predictions",
           std::string("predictions"),
           "name or collection of predicted classes or scores, a shell pattern"},
          {"samples", std::int64_t{500}, "with fewer labels the verdict is insufficient", 1, 1e9}};
}

bool readClasses(const ProcessView& view,
                 const Parameters& parameters,
                 bool needsPredictions,
                 ClassSamples& samples) {
  const auto labels = recordingsOf(view, parameters.text("labels"));
  const auto predictions = recordingsOf(view, parameters.text("predictions"));
  if (!isSaved(labels))
    return setMissing(view, parameters.text("labels"), samples), false;
  if (needsPredictions && !isSaved(predictions))
    return setMissing(view, parameters.text("predictions"), samples), false;
  const std::int64_t needed = parameters.integer("samples");
  Outcome& outcome = samples.outcome;
  for (std::size_t left = labels.size(); left > 0 && outcome.samples < needed; --left) {
    const TensorFact& at = *labels[left - 1];
    const TensorFact* const partner =
        isSaved(predictions) ? partnerOf(labels, left - 1, predictions) : nullptr;
    if (needsPredictions && partner == nullptr)
      continue;
    if (const auto added = addRecording(view.process().folder, at, partner, samples); !added) {
      outcome.message =
          fmt::format("iteration {} cannot be used: {}", at.iteration, added.error().message);
      return false;
    }
    outcome.window = windowOf(at.iteration, labels.back()->iteration);
  }
  if (outcome.samples < needed) {
    outcome.message = fmt::format("{} labels, but {} are needed", outcome.samples, needed);
    return false;
  }
  return true;
}

}  // namespace sonde::rules
