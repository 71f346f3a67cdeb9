#include "analysis/engine/models/kernels/tt_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sonde::engine::models {
namespace {

// The least whole number whose `power`-th power is at least `value`.
std::int64_t rootAbove(std::int64_t value, int power) {
  auto root = static_cast<std::int64_t>(std::pow(static_cast<double>(value), 1.0 / power));
  const auto isEnough = [&](std::int64_t of) {
    return std::pow(static_cast<double>(of), power) >= static_cast<double>(value);
  };
  while (root > 1 && isEnough(root - 1))
    --root;
  while (root < 1 || !isEnough(root))
    ++root;
  return root;
}

// Three factors with the least sum, ascending.
std::array<std::int64_t, 3> factorsOf(std::int64_t product) {
  std::array<std::int64_t, 3> best = {1, 1, product};
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t a = 1; a * a * a <= product; ++a) {
    if (product % a != 0)
      continue;
    for (std::int64_t b = a; a * b * b <= product; ++b) {
      if (product / a % b != 0)
        continue;
      const std::int64_t c = product / a / b;
      if (a + b + c < least) {
        least = a + b + c;
        best = {a, b, c};
      }
    }
  }
  return best;
}

}  // namespace

std::int64_t TtShape::parameters() const noexcept {
  return rows[0] * dims[0] * rank + rank * rows[1] * dims[1] * rank + rank * rows[2] * dims[2];
}

double TtShape::flopsOfRow() const noexcept {
  const auto product = [](std::int64_t a, std::int64_t b, std::int64_t c) {
    return 2.0 * static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c);
  };
  return product(dims[0], rank, dims[1] * rank) + product(dims[0] * dims[1], rank, dims[2]);
}

std::int64_t TtShape::readByRow() const noexcept {
  return dims[0] * rank + rank * dims[1] * rank + rank * dims[2];
}

TtShape ttShapeOf(std::int64_t rows, std::int64_t dim, std::int64_t rank) {
  const std::int64_t first = rootAbove(rows, 3);
  const std::int64_t second = rootAbove((rows + first - 1) / first, 2);
  const std::int64_t third = (rows + first * second - 1) / (first * second);
  return {{first, second, third}, factorsOf(dim), rank};
}

}  // namespace sonde::engine::models
