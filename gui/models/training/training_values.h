// The values that a training program reported over its iterations, for the view of training:
// scalars, tensors and the time of iterations. Plain values; reading uses the database's thread.
#pragma once

#include "analysis/engine/intervals/intervals.h"
#include "analysis/engine/training/scalars.h"
#include "analysis/engine/training/tensors.h"
#include "analysis/store/database.h"
#include "base/result.h"
#include "gui/models/table/value_table.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sonde::gui {

// The names of all that can be chosen.
struct TrainingNames {
  std::vector<std::string> scalars;
  std::vector<engine::training::TensorName> tensors;
  bool operator==(const TrainingNames&) const = default;
  [[nodiscard]] bool isEmpty() const { return scalars.empty() && tensors.empty(); }
};
[[nodiscard]] Result<TrainingNames> readTrainingNames(const store::Database& trace);

struct TrainingChoice {
  std::vector<std::string> scalars;
  std::optional<engine::training::TensorName> tensor;
  std::optional<engine::metrics::Interval> within;  // only iterations that share this job time
};
struct TrainingSeries {
  std::vector<std::pair<std::string, std::vector<engine::training::ScalarSeries>>> scalars;
  std::vector<engine::training::TensorPoint> tensor;
  engine::training::Ridges ridges;
  std::vector<engine::training::ScalarSeries> iterations;  // their times in ns
};
[[nodiscard]] Result<TrainingSeries> readTrainingSeries(const store::Database& trace,
                                                        const TrainingChoice& choice);

// The first and last iteration of all series; 0 and 1 without any.
[[nodiscard]] std::pair<double, double> iterationRange(const TrainingSeries& series);

[[nodiscard]] std::vector<ValueColumn> tensorColumns();
// A row for each of `names.tensors`.
[[nodiscard]] std::vector<ValueRow> tensorRows(const TrainingNames& names);

}  // namespace sonde::gui
