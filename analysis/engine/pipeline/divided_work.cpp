#include "analysis/engine/pipeline/divided_work.h"

#include <algorithm>
#include <numeric>

namespace sonde::engine::pipeline {
namespace {

// Less than this part of a middle stage may be chance, or a layer.
constexpr double kLeastExtra = 0.1;

double extraOf(double end, double middle) {
  return end - middle > kLeastExtra * middle ? end - middle : 0;
}

}  // namespace

std::vector<double> dividedWork(const std::vector<double>& now, std::int64_t stages) {
  double first = 0;
  double last = 0;
  if (now.size() > 2) {
    std::vector<double> inside(now.begin() + 1, now.end() - 1);
    const auto middle = inside.begin() + static_cast<std::ptrdiff_t>(inside.size() / 2);
    std::nth_element(inside.begin(), middle, inside.end());
    first = extraOf(now.front(), *middle);
    last = extraOf(now.back(), *middle);
  }
  const double layers = std::accumulate(now.begin(), now.end(), 0.0) - first - last;
  std::vector<double> then(static_cast<std::size_t>(stages), layers / static_cast<double>(stages));
  then.front() += first;
  then.back() += last;
  return then;
}

}  // namespace sonde::engine::pipeline
