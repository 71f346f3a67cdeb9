#include "rules/builtin/training/tensor_difference.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace sonde::rules {
namespace {

double shareOf(const std::optional<double>& left,
               const std::optional<double>& right,
               double scale) {
  if (left.has_value() != right.has_value())
    return std::numeric_limits<double>::infinity();
  if (!left || *left == *right)
    return 0;
  const double difference = std::abs(*left - *right) / scale;
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

}  // namespace

TensorDifference differenceOf(const TensorFact& left, const TensorFact& right) {
  const auto count = static_cast<double>(std::max<std::int64_t>(left.finite(), 1));
  double greatest = 0;
  for (const auto& extreme : {left.minimum, left.maximum, right.minimum, right.maximum})
    greatest = std::max(greatest, std::abs(extreme.value_or(0)));
  const auto unequal = [](std::int64_t a, std::int64_t b) {
    return a == b ? 0 : std::numeric_limits<double>::infinity();
  };
  TensorDifference worst;
  for (const auto& [statistic, difference] :
       {std::pair("NaN", unequal(left.nans, right.nans)),
        std::pair("infinite", unequal(left.infs, right.infs)),
        std::pair("l2", shareOf(left.l2, right.l2, std::max(left.l2, right.l2))),
        std::pair("mean", shareOf(left.mean, right.mean, std::max(left.l1, right.l1) / count)),
        std::pair("minimum", shareOf(left.minimum, right.minimum, greatest)),
        std::pair("maximum", shareOf(left.maximum, right.maximum, greatest)),
        std::pair("zeros",
                  std::abs(static_cast<double>(left.zeros - right.zeros)) /
                      static_cast<double>(std::max<std::int64_t>(left.elements, 1)))})
    if (!(difference <= worst.share))
      worst = {"", statistic, difference};
  return worst;
}

const TensorFact* recordingIn(const TensorSeries& series, std::int64_t iteration) {
  const auto after = std::upper_bound(
      series.values.begin(),
      series.values.end(),
      iteration,
      [](std::int64_t number, const TensorFact& each) { return number < each.iteration; });
  if (after == series.values.begin() || std::prev(after)->iteration != iteration)
    return nullptr;
  return &*std::prev(after);
}

}  // namespace sonde::rules
