#include "rules/learned/update_law.h"

#include <algorithm>
#include <cmath>

namespace sonde::rules {
namespace {

// A column that depends on the others but for this share adds nothing.
constexpr double kDependent = 1e-4;

using Column = std::vector<double>;

double dot(const Column& a, const Column& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

void subtract(double factor, const Column& from, Column& column) {
  for (std::size_t i = 0; i < column.size(); ++i)
    column[i] -= factor * from[i];
}

}  // namespace

UpdateFactors fitUpdate(const std::vector<UpdatePoint>& points) {
  std::array<Column, 3> columns;
  Column steps;
  for (const UpdatePoint& each : points) {
    columns[0].push_back(each.previous);
    columns[1].push_back(each.gradient);
    columns[2].push_back(each.weight);
    steps.push_back(each.step);
  }
  // Modified Gram-Schmidt: columns = orthogonal columns · triangle.
  std::array<std::array<double, 3>, 3> triangle{};
  std::array<double, 3> projections{};
  std::array<bool, 3> isUsed{};
  for (std::size_t k : {1U, 0U, 2U}) {
    const double before = std::sqrt(dot(columns[k], columns[k]));
    for (std::size_t j : {1U, 0U, 2U}) {
      if (j == k || !isUsed[j])
        continue;
      triangle[j][k] = dot(columns[j], columns[k]) / dot(columns[j], columns[j]);
      subtract(triangle[j][k], columns[j], columns[k]);
    }
    const double square = dot(columns[k], columns[k]);
    if (before == 0 || std::sqrt(square) <= kDependent * before)
      continue;
    isUsed[k] = true;
    projections[k] = dot(columns[k], steps) / square;
    subtract(projections[k], columns[k], steps);
  }
  UpdateFactors factors{};
  for (std::size_t k : {2U, 0U, 1U}) {
    if (!isUsed[k])
      continue;
    factors[k] = projections[k];
    for (std::size_t later = 0; later < 3; ++later)
      if (later != k)
        factors[k] -= triangle[k][later] * factors[later];
  }
  return factors;
}

double updateError(const UpdateFactors& factors, const UpdatePoint& point, double roundings) {
  const std::array<double, 3> terms = {
      factors[0] * point.previous, factors[1] * point.gradient, factors[2] * point.weight};
  const double scale = std::abs(terms[0]) + std::abs(terms[1]) + std::abs(terms[2]);
  const double off = std::abs(terms[0] + terms[1] + terms[2] - point.step);
  const double counted = off - roundings * point.rounding;
  return counted <= 0 ? 0 : counted / std::max(scale, std::abs(point.step));
}

std::optional<UpdateFactors> learnUpdate(const std::vector<UpdatePoint>& points) {
  for (std::size_t left = 0; left < points.size(); ++left) {
    std::vector<UpdatePoint> others = points;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(left));
    if (!(updateError(fitUpdate(others), points[left], kLawfulRoundings) <= kLawfulShare))
      return std::nullopt;
  }
  return fitUpdate(points);
}

}  // namespace sonde::rules
