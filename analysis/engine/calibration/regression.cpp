#include "analysis/engine/calibration/regression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <Eigen/Dense>

namespace sonde::engine::calibration {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kHuber = 1.345;  // 95 % of the efficiency of least squares for normal noise
constexpr double kNormalMad = 1.4826;
constexpr int kMostRounds = 50;
constexpr std::size_t kFewestBlocks = 6;

double medianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class Fit {
 public:
  Fit(const std::vector<Observation>& observations, const PriorErrors& priors)
      : observations_(observations),
        costs_(static_cast<Index>(observations.size()), static_cast<Index>(priors.size())),
        durations_(static_cast<Index>(observations.size())),
        weights_(VectorXd::Ones(static_cast<Index>(observations.size()))),
        priors_(VectorXd::Zero(static_cast<Index>(priors.size()))) {
    for (Index row = 0; row < costs_.rows(); ++row) {
      const Observation& each = observations[static_cast<std::size_t>(row)];
      durations_[row] = each.durationNs;
      for (Index probe = 0; probe < costs_.cols(); ++probe)
        costs_(row, probe) = each.costNs[static_cast<std::size_t>(probe)];
    }
    for (std::size_t probe = 0; probe < priors.size(); ++probe)
      if (std::isfinite(priors[probe]) && priors[probe] > 0)
        priors_[static_cast<Index>(probe)] = 1 / (priors[probe] * priors[probe]);
    for (std::size_t row = 0; row < observations.size(); ++row) {
      blocks_.insert(observations[row].block);
      stretches_[observations[row].stretch].push_back(static_cast<Index>(row));
    }
  }

  Result<Factors> run() {
    if (blocks_.size() < kFewestBlocks)
      return Error{ErrorCode::NotFound,
                   fmt::format("there are {} blocks of iterations, too few to tell what recording "
                               "cost: let the job run for {} or more",
                               blocks_.size(),
                               kFewestBlocks)};
    VectorXd factors = VectorXd::Ones(costs_.cols());
    center();
    residuals_ = y_;
    measureNoise();
    for (int round = 0; round < kMostRounds; ++round) {
      center();
      SONDE_TRY_ASSIGN(VectorXd next, solve());
      const double change = (next - factors).cwiseAbs().maxCoeff();
      factors = std::move(next);
      residuals_ = y_ - z_ * factors;
      reweigh();
      if (round > 0 && change < 1e-6)
        break;
    }
    return result(factors);
  }

 private:
  // Takes the level and the slope of each stretch out of both sides.
  void center() {
    z_ = costs_;
    y_ = durations_;
    for (const auto& [stretch, rows] : stretches_) {
      double weight = 0;
      double time = 0;
      for (const Index row : rows) {
        weight += weights_[row];
        time += weights_[row] * static_cast<double>(row);
      }
      time /= weight;
      VectorXd levels = VectorXd::Zero(z_.cols() + 1);  // of the costs, and of the durations
      VectorXd slopes = VectorXd::Zero(z_.cols() + 1);
      double spread = 0;
      for (const Index row : rows) {
        const double at = static_cast<double>(row) - time;
        VectorXd values(z_.cols() + 1);
        values << costs_.row(row).transpose(), durations_[row];
        levels += weights_[row] * values / weight;
        slopes += weights_[row] * at * values;
        spread += weights_[row] * at * at;
      }
      slopes /= std::max(spread, 1e-300);
      for (const Index row : rows) {
        const VectorXd fitted = levels + (static_cast<double>(row) - time) * slopes;
        z_.row(row) -= fitted.head(z_.cols()).transpose();
        y_[row] -= fitted[z_.cols()];
      }
    }
  }

  // Prior knowledge weighs as much as the noise makes observations weigh.
  MatrixXd normal() const {
    MatrixXd normal = z_.transpose() * weights_.asDiagonal() * z_;
    normal.diagonal() += noise_ * noise_ * priors_;
    return normal;
  }

  // In units in which all columns are of one size, since costs differ by orders of magnitude.
  Result<VectorXd> solve() const {
    const MatrixXd matrix = normal();
    const VectorXd scale = matrix.diagonal().cwiseSqrt().cwiseMax(1e-300).cwiseInverse();
    const Eigen::FullPivLU<MatrixXd> lu(scale.asDiagonal() * matrix * scale.asDiagonal());
    if (lu.rank() < matrix.cols())
      return Error{ErrorCode::NotFound,
                   "iterations do not differ in what was recorded of them: nothing tells what "
                   "recording cost"};
    const VectorXd right =
        z_.transpose() * weights_.asDiagonal() * y_ + noise_ * noise_ * priors_;
    return VectorXd(scale.asDiagonal() * lu.solve(scale.asDiagonal() * right));
  }

  void measureNoise() {
    std::vector<double> sizes;
    for (const double residual : residuals_)
      sizes.push_back(std::abs(residual));
    noise_ = kNormalMad * medianOf(std::move(sizes));
  }

  void reweigh() {
    measureNoise();
    for (Index row = 0; row < residuals_.size(); ++row) {
      const double size = std::abs(residuals_[row]);
      weights_[row] = size <= kHuber * noise_ ? 1 : kHuber * noise_ / size;
    }
  }

  Factors result(const VectorXd& factors) const {
    std::map<std::size_t, VectorXd> scores;  // by block
    for (Index row = 0; row < z_.rows(); ++row) {
      const std::size_t block = observations_[static_cast<std::size_t>(row)].block;
      scores.try_emplace(block, VectorXd::Zero(z_.cols())).first->second +=
          weights_[row] * residuals_[row] * z_.row(row).transpose();
    }
    MatrixXd meat = MatrixXd::Zero(z_.cols(), z_.cols());
    for (const auto& [block, score] : scores)
      meat += score * score.transpose();
    const auto count = static_cast<double>(blocks_.size());
    const auto used = static_cast<double>(2 * stretches_.size() + 1);
    meat *= count / std::max(1.0, count - used);
    meat.diagonal() += std::pow(noise_, 4) * priors_;
    const MatrixXd bread = normal().inverse();
    const MatrixXd covariance = bread * meat * bread;
    Factors result;
    result.noiseNs = noise_;
    result.blocks = blocks_.size();
    for (Index at = 0; at < factors.size(); ++at) {
      result.values.push_back(factors[at]);
      result.covariance.emplace_back();
      for (Index other = 0; other < factors.size(); ++other)
        result.covariance.back().push_back(covariance(at, other));
    }
    return result;
  }

  const std::vector<Observation>& observations_;
  MatrixXd costs_;
  VectorXd durations_;
  VectorXd weights_;
  VectorXd priors_;  // by probe: one over the variance of what is known
  std::set<std::size_t> blocks_;
  std::map<std::size_t, std::vector<Index>> stretches_;  // their rows
  MatrixXd z_;  // costs and durations without levels and slopes
  VectorXd y_;
  VectorXd residuals_;
  double noise_ = 0;
};

}  // namespace

Result<Factors> fitFactors(const std::vector<Observation>& observations,
                           const PriorErrors& priors) {
  return Fit(observations, priors).run();
}

}  // namespace sonde::engine::calibration
