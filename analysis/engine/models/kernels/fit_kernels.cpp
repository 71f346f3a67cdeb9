#include "analysis/engine/models/kernels/fit_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include <Eigen/Dense>

namespace sonde::engine::models {
namespace {

using Coefficients = Eigen::Vector3d;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, 3>;

constexpr unsigned kFirst = 1;  // bit of the first column
constexpr unsigned kAllColumns = 7;

// Least squares where no coefficient is below 0, but those of `free` may be. Few columns, so it
// tries all sets of them. nullopt: none has a solution.
std::optional<Coefficients> nonNegativeFit(const Rows& rows,
                                           const Eigen::VectorXd& right,
                                           unsigned free) {
  constexpr double kSingular = 1e-9;
  const Eigen::Vector3d norms = rows.colwise().norm();
  std::optional<Coefficients> best;
  double least = 0;
  for (unsigned used = 1; used <= kAllColumns; ++used) {
    std::vector<int> columns;
    for (int at = 0; at < 3; ++at)
      if ((used >> at & 1U) != 0 && norms[at] > 0)
        columns.push_back(at);
    if (columns.empty())
      continue;
    Eigen::MatrixXd chosen(rows.rows(), static_cast<Eigen::Index>(columns.size()));
    for (std::size_t at = 0; at < columns.size(); ++at)
      chosen.col(static_cast<Eigen::Index>(at)) = rows.col(columns[at]) / norms[columns[at]];
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver;
    solver.setThreshold(kSingular);
    solver.compute(chosen);
    if (solver.rank() < chosen.cols())
      continue;
    const Eigen::VectorXd solved = solver.solve(right);
    Coefficients found = Coefficients::Zero();
    bool isAllowed = true;
    for (std::size_t at = 0; at < columns.size(); ++at) {
      found[columns[at]] = solved[static_cast<Eigen::Index>(at)] / norms[columns[at]];
      isAllowed &= found[columns[at]] >= 0 || (free >> columns[at] & 1U) != 0;
    }
    const double squares = (rows * found - right).squaredNorm();
    if (isAllowed && (!best || squares < least)) {
      least = squares;
      best = found;
    }
  }
  return best;
}

double squaresOf(const std::vector<KernelPoint>& points, const KernelModel& model) {
  double sum = 0;
  for (const KernelPoint& each : points)
    sum += std::pow(model.ns(each.work) / each.ns - 1, 2);
  return sum;
}

// Fits with the points on the side of the roof that they begin on, and moves them until all are on
// the side that the model says.
std::optional<KernelModel> rooflineFrom(const std::vector<KernelPoint>& points,
                                        std::vector<bool> isArithmetic) {
  constexpr int kRounds = 20;
  std::optional<KernelModel> model;
  for (int round = 0; round < kRounds; ++round) {
    Rows rows(static_cast<Eigen::Index>(points.size()), 3);
    for (std::size_t at = 0; at < points.size(); ++at) {
      const KernelPoint& each = points[at];
      rows.row(static_cast<Eigen::Index>(at)) << 1 / each.ns,
          isArithmetic[at] ? each.work.flops / each.ns : 0,
          isArithmetic[at] ? 0 : each.work.bytes / each.ns;
    }
    const auto found = nonNegativeFit(rows, Eigen::VectorXd::Ones(rows.rows()), 0);
    if (!found)
      return model;
    model = KernelModel{.fixedNs = (*found)[0], .flopNs = (*found)[1], .byteNs = (*found)[2]};
    bool isSettled = true;
    for (std::size_t at = 0; at < points.size(); ++at) {
      const OperatorWork& work = points[at].work;
      const bool now = model->flopNs * work.flops > model->byteNs * work.bytes;
      isSettled &= now == isArithmetic[at];
      isArithmetic[at] = now;
    }
    if (isSettled)
      break;
  }
  return model;
}

// One size does not say how much of the time is fixed.
KernelModel proportional(const KernelPoint& point) {
  if (point.work.flops > 0 && point.work.kind != KernelKind::Memory)
    return {.flopNs = point.ns / point.work.flops};
  return {.byteNs = point.ns / point.work.bytes};
}

KernelModel fitRoofline(const std::vector<KernelPoint>& points) {
  if (points.size() == 1)
    return proportional(points.front());
  std::vector<double> intensities;
  intensities.reserve(points.size());
  for (const KernelPoint& each : points)
    intensities.push_back(each.work.flops / each.work.bytes);
  std::vector<double> sorted = intensities;
  std::sort(sorted.begin(), sorted.end());
  // The ridge at the beginning: above all points, below all, and at three places between. The
  // operations of an element differ so much that they have no common speed.
  std::vector<double> ridges = {sorted.back()};
  if (points.front().work.kind != KernelKind::Memory) {
    ridges.push_back(sorted.front() / 2);
    for (const std::size_t quarter : {1U, 2U, 3U})
      ridges.push_back(sorted[quarter * (sorted.size() - 1) / 4]);
  }
  KernelModel best = proportional(points.front());
  bool hasBest = false;
  for (const double ridge : ridges) {
    std::vector<bool> isArithmetic;
    isArithmetic.reserve(points.size());
    for (const double each : intensities)
      isArithmetic.push_back(each > ridge);
    const auto found = rooflineFrom(points, std::move(isArithmetic));
    if (found && (!hasBest || squaresOf(points, *found) < squaresOf(points, best))) {
      best = *found;
      hasBest = true;
    }
  }
  return best;
}

// Pointwise operators have one flop for each few bytes, so only their bytes count.
KernelModel fitPower(const std::vector<KernelPoint>& points) {
  const bool hasFlops = points.front().work.kind != KernelKind::Memory;
  Rows rows(static_cast<Eigen::Index>(points.size()), 3);
  Eigen::VectorXd right(rows.rows());
  for (std::size_t at = 0; at < points.size(); ++at) {
    const OperatorWork& work = points[at].work;
    const auto row = static_cast<Eigen::Index>(at);
    rows.row(row) << 1, hasFlops ? std::log(std::max(work.flops, 1.0)) : 0,
        std::log(std::max(work.bytes, 1.0));
    right[row] = std::log(points[at].ns);
  }
  const auto found = nonNegativeFit(rows, right, kFirst);
  KernelModel model{.form = KernelForm::Power};
  if (found) {
    model.scale = std::exp((*found)[0]);
    model.flopPower = (*found)[1];
    model.bytePower = (*found)[2];
  }
  return model;
}

KernelModel fitForm(const std::vector<KernelPoint>& points, KernelForm form) {
  return form == KernelForm::Roofline ? fitRoofline(points) : fitPower(points);
}

bool isNear(double one, double other) {
  constexpr double kNear = 0.1;
  return std::abs(one - other) <= kNear * std::max(one, other);
}

struct HeldOutKernels {
  double error = 0;
  double logError = 0;
};

std::optional<HeldOutKernels> holdOutKernels(const std::vector<KernelPoint>& points,
                                             KernelForm form) {
  constexpr std::size_t kLeast = 3;
  constexpr double kNineTenths = 0.9;
  std::vector<double> logErrors;
  double sum = 0;
  for (const KernelPoint& left : points) {
    std::vector<KernelPoint> others;
    for (const KernelPoint& each : points)
      if (!isNear(each.work.flops, left.work.flops) || !isNear(each.work.bytes, left.work.bytes))
        others.push_back(each);
    if (others.size() < kLeast)
      continue;
    const double modelled = std::max(fitForm(others, form).ns(left.work), 1.0);
    sum += std::abs(modelled / left.ns - 1);
    logErrors.push_back(std::abs(std::log(modelled / left.ns)));
  }
  if (logErrors.size() < kLeast)
    return std::nullopt;
  std::sort(logErrors.begin(), logErrors.end());
  const auto count = static_cast<double>(logErrors.size());
  const double rank = std::min(std::ceil(kNineTenths * (count + 1)), count);
  return HeldOutKernels{sum / count, logErrors[static_cast<std::size_t>(rank) - 1]};
}

std::vector<KernelPoint> toHoldOut(std::vector<KernelPoint> points) {
  if (points.size() <= kMostHeldOut)
    return points;
  std::stable_sort(points.begin(), points.end(), [](const KernelPoint& a, const KernelPoint& b) {
    return std::pair(a.work.flops, a.work.bytes) < std::pair(b.work.flops, b.work.bytes);
  });
  std::vector<KernelPoint> chosen;
  for (std::size_t i = 0; i < kMostHeldOut; ++i)
    chosen.push_back(points[i * (points.size() - 1) / (kMostHeldOut - 1)]);
  return chosen;
}

}  // namespace

KernelModel fitKernels(const std::vector<KernelPoint>& points, bool isOnDevice) {
  constexpr double kAssumedError = 0.5;
  constexpr double kAssumedFactor = 2;
  const std::vector<KernelPoint> some = toHoldOut(points);
  const auto roofline = holdOutKernels(some, KernelForm::Roofline);
  const auto power = holdOutKernels(some, KernelForm::Power);
  const bool isPower = roofline && power && power->error < roofline->error;
  KernelModel model = fitForm(points, isPower ? KernelForm::Power : KernelForm::Roofline);
  const auto& heldOut = isPower ? power : roofline;
  model.isErrorMeasured = heldOut.has_value();
  model.error = heldOut ? heldOut->error : kAssumedError;
  model.logError = heldOut ? heldOut->logError : std::log(kAssumedFactor);
  model.kind = points.front().work.kind;
  model.type = points.front().work.type;
  model.isOnDevice = isOnDevice;
  model.sizes = static_cast<std::int64_t>(points.size());
  model.leastBytes = model.mostBytes = points.front().work.bytes;
  for (const KernelPoint& each : points) {
    model.leastBytes = std::min(model.leastBytes, each.work.bytes);
    model.mostBytes = std::max(model.mostBytes, each.work.bytes);
  }
  return model;
}

}  // namespace sonde::engine::models
