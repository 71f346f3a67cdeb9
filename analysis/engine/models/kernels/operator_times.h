// The operators of a trace whose work is known, with the time that each took. Uses the database's
// thread.
#pragma once

#include "analysis/engine/models/kernels/fit_kernels.h"
#include "analysis/engine/models/kernels/kernel_model.h"
#include "analysis/engine/models/kernels/operator_work.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sonde::engine::models {

struct OperatorTime {
  std::int64_t slice = 0;  // the operator
  OperatorWork work;
  double ns = 0;
};

struct OperatorTimes {
  bool isOnDevice = false;
  std::vector<OperatorTime> operators;
};

// Where the trace has kernels: operators that launched some, with the sum of these; collectives do
// not count. Else the operators' own time on their threads, without that of operators inside.
// Operators without recorded sizes, or of unknown work, are left out.
Result<OperatorTimes> readOperatorTimes(const store::Database& trace);

// The operator of each kernel that has one, as its place in `times`, by the kernel's id.
Result<std::unordered_map<std::int64_t, std::size_t>> operatorsOfKernels(
    const store::Database& trace, const OperatorTimes& times);

// The elements of the largest tensor among the recorded inputs of each operator, by its slice.
Result<std::unordered_map<std::int64_t, double>> largestInputs(const store::Database& trace);

// One model for each kind and type, by kind, and one for each operator of them that has sizes
// enough and whose own model predicts left-out sizes better. Empty: no operators.
std::vector<KernelModel> fitKernelModels(const OperatorTimes& times);

// With the median time of equal works of an operator.
std::vector<KernelPoint> pointsOf(const OperatorTimes& times);

}  // namespace sonde::engine::models
