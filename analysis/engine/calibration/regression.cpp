#include "analysis/engine/calibration/regression.h"

#include "analysis/engine/statistics/distributions.h"
#include "analysis/engine/statistics/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <Eigen/Dense>

namespace sonde::engine::calibration {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kHuber = 2.5;  // times the noise: block means further off were disturbed
constexpr double kNormalMad = 1.4826;
constexpr int kMostRounds = 50;
constexpr std::size_t kFewestBlocks = 6;
constexpr double kLeastFreedom = 2;

// Student's 95 % quantile divided by the normal one.
double widening(double freedom) {
  return statistics::studentQuantile(0.975, std::max(freedom, 2.0)) /
         statistics::normalQuantile(0.975);
}

// Scales all columns to one size, since costs differ by orders of magnitude. nullopt: the matrix is
// singular.
std::optional<VectorXd> solved(const MatrixXd& matrix, const VectorXd& right) {
  const VectorXd scale = matrix.diagonal().cwiseAbs().cwiseSqrt().cwiseMax(1e-300).cwiseInverse();
  const Eigen::FullPivLU<MatrixXd> lu(scale.asDiagonal() * matrix * scale.asDiagonal());
  if (lu.rank() < matrix.cols())
    return std::nullopt;
  return VectorXd(scale.asDiagonal() * lu.solve(scale.asDiagonal() * right));
}

// Both sides of the normal equations.
struct Equations {
  MatrixXd left;
  VectorXd right;

  Equations& operator+=(const Equations& other) {
    left += other.left;
    right += other.right;
    return *this;
  }
  Equations& operator-=(const Equations& other) {
    left -= other.left;
    right -= other.right;
    return *this;
  }
};

class Fit {
 public:
  Fit(const std::vector<Observation>& observations, Trend trend, const PriorErrors& priors)
      : observations_(observations),
        trend_(trend),
        values_(static_cast<Index>(observations.size()), static_cast<Index>(priors.size()) + 1),
        weights_(VectorXd::Ones(static_cast<Index>(observations.size()))),
        priors_(VectorXd::Zero(static_cast<Index>(priors.size()))) {
    for (std::size_t row = 0; row < observations.size(); ++row) {
      const Observation& each = observations[row];
      const auto at = static_cast<Index>(row);
      for (std::size_t probe = 0; probe < priors.size(); ++probe)
        values_(at, static_cast<Index>(probe)) = each.costNs[probe];
      values_(at, probes()) = each.durationNs;
      stretches_[each.stretch].push_back(at);
      stretchesOf_[each.block].insert(each.stretch);
    }
    for (std::size_t probe = 0; probe < priors.size(); ++probe)
      if (std::isfinite(priors[probe]) && priors[probe] > 0)
        priors_[static_cast<Index>(probe)] = 1 / (priors[probe] * priors[probe]);
  }

  Result<Factors> run() {
    if (stretchesOf_.size() < kFewestBlocks)
      return Error{ErrorCode::NotFound,
                   fmt::format("{} blocks of iterations are too few to measure the cost of "
                               "recording: let the job run for {} or more",
                               stretchesOf_.size(),
                               kFewestBlocks)};
    if (freedom() < kLeastFreedom)
      return Error{ErrorCode::NotFound,
                   fmt::format("{} blocks of iterations are too few to measure the cost of {} "
                               "probes: let the job run longer",
                               stretchesOf_.size(),
                               probes())};
    VectorXd factors = VectorXd::Ones(probes());
    reweigh(VectorXd::Zero(probes()));
    weights_.setOnes();
    for (int round = 0; round < kMostRounds; ++round) {
      const Equations equations = withPriors(equationsOfAll());
      const auto next = solved(equations.left, equations.right);
      if (!next)
        return Error{
            ErrorCode::NotFound,
            "all iterations recorded the same, so the cost of recording cannot be measured"};
      const double change = (*next - factors).cwiseAbs().maxCoeff();
      factors = *next;
      reweigh(factors);
      if (round > 0 && change < 1e-6)
        break;
    }
    return result(factors);
  }

 private:
  Index probes() const { return values_.cols() - 1; }

  // Degrees of freedom: observations minus levels, slopes and factors, without prior knowledge.
  double freedom() const {
    const double ofStretch = trend_ == Trend::Slope ? 2 : 1;
    return static_cast<double>(values_.rows()) -
           ofStretch * static_cast<double>(stretches_.size()) - static_cast<double>(probes());
  }

  // The rows of a stretch minus its level and slope.
  MatrixXd centered(const std::vector<Index>& rows, const VectorXd& weights) const {
    double sum = 0;
    double time = 0;
    for (Index at = 0; at < weights.size(); ++at) {
      sum += weights[at];
      time += weights[at] * static_cast<double>(at);
    }
    MatrixXd values(static_cast<Index>(rows.size()), values_.cols());
    for (std::size_t at = 0; at < rows.size(); ++at)
      values.row(static_cast<Index>(at)) = values_.row(rows[at]);
    if (sum <= 0)
      return values;
    const VectorXd times =
        VectorXd::LinSpaced(weights.size(), 0, static_cast<double>(weights.size() - 1)).array() -
        time / sum;
    values.rowwise() -= (weights.transpose() * values / sum).eval();
    const double spread = (weights.array() * times.array().square()).sum();
    if (trend_ == Trend::Slope && spread > 0)
      values -= times * ((weights.array() * times.array()).matrix().transpose() * values / spread);
    return values;
  }

  // Rows of the block `without` get weight zero.
  VectorXd weightsOf(const std::vector<Index>& rows, std::optional<std::size_t> without) const {
    VectorXd weights(static_cast<Index>(rows.size()));
    for (std::size_t at = 0; at < rows.size(); ++at) {
      const bool isLeftOut =
          without && observations_[static_cast<std::size_t>(rows[at])].block == *without;
      weights[static_cast<Index>(at)] = isLeftOut ? 0 : weights_[rows[at]];
    }
    return weights;
  }

  Equations equationsOf(std::size_t stretch, std::optional<std::size_t> without) const {
    const std::vector<Index>& rows = stretches_.at(stretch);
    const VectorXd weights = weightsOf(rows, without);
    const MatrixXd values = centered(rows, weights);
    const MatrixXd costs = values.leftCols(probes());
    return {costs.transpose() * weights.asDiagonal() * costs,
            costs.transpose() * weights.asDiagonal() * values.col(probes())};
  }

  Equations equationsOfAll() const {
    Equations all{MatrixXd::Zero(probes(), probes()), VectorXd::Zero(probes())};
    for (const auto& [stretch, rows] : stretches_)
      all += equationsOf(stretch, std::nullopt);
    return all;
  }

  // Prior knowledge weighs as much as the noise makes observations weigh.
  Equations withPriors(Equations equations) const {
    equations.left.diagonal() += noise_ * noise_ * priors_;
    equations.right += noise_ * noise_ * priors_;
    return equations;
  }

  void reweigh(const VectorXd& factors) {
    VectorXd residuals(values_.rows());
    for (const auto& [stretch, rows] : stretches_) {
      const MatrixXd values = centered(rows, weightsOf(rows, std::nullopt));
      const VectorXd rest = values.col(probes()) - values.leftCols(probes()) * factors;
      for (std::size_t at = 0; at < rows.size(); ++at)
        residuals[rows[at]] = std::abs(rest[static_cast<Index>(at)]);
    }
    // With few observations the fit absorbs part of the noise.
    noise_ = kNormalMad * statistics::median({residuals.begin(), residuals.end()}) *
             std::sqrt(static_cast<double>(values_.rows()) / std::max(freedom(), 1.0));
    for (Index row = 0; row < residuals.size(); ++row)
      weights_[row] = residuals[row] <= kHuber * noise_ ? 1 : kHuber * noise_ / residuals[row];
  }

  // How the factors change when each block is left out (CR3, which is also right for few blocks),
  // plus the uncertainty of the priors.
  MatrixXd covarianceOf(const VectorXd& factors) const {
    const Equations all = equationsOfAll();
    MatrixXd covariance = MatrixXd::Zero(probes(), probes());
    for (const auto& [block, stretches] : stretchesOf_) {
      Equations rest = all;
      for (const std::size_t stretch : stretches) {
        rest -= equationsOf(stretch, std::nullopt);
        rest += equationsOf(stretch, block);
      }
      rest = withPriors(std::move(rest));
      if (const auto without = solved(rest.left, rest.right))
        covariance += (*without - factors) * (*without - factors).transpose();
    }
    const auto count = static_cast<double>(stretchesOf_.size());
    const auto levels = static_cast<double>(stretches_.size());
    const double used = (trend_ == Trend::Slope ? 2 : 1) * levels + static_cast<double>(probes());
    covariance *= (count - 1) / count * std::pow(widening(count - used), 2);
    MatrixXd ofPriors = MatrixXd::Zero(probes(), probes());
    ofPriors.diagonal() = std::pow(noise_, 4) * priors_;
    const MatrixXd bread = withPriors(all).left.inverse();
    return covariance + bread * ofPriors * bread;
  }

  Factors result(const VectorXd& factors) const {
    const MatrixXd covariance = covarianceOf(factors);
    Factors result;
    result.noiseNs = noise_;
    result.blocks = stretchesOf_.size();
    for (Index at = 0; at < factors.size(); ++at) {
      result.values.push_back(factors[at]);
      result.covariance.emplace_back();
      for (Index other = 0; other < factors.size(); ++other)
        result.covariance.back().push_back(covariance(at, other));
    }
    return result;
  }

  const std::vector<Observation>& observations_;
  Trend trend_;
  MatrixXd values_;  // of each observation: its costs, and its duration
  VectorXd weights_;
  VectorXd priors_;                                      // by probe: inverse variance of the prior
  std::map<std::size_t, std::vector<Index>> stretches_;  // their rows
  std::map<std::size_t, std::set<std::size_t>> stretchesOf_;  // those that a block is in
  double noise_ = 0;
};

}  // namespace

Result<Factors> fitFactors(const std::vector<Observation>& observations,
                           Trend trend,
                           const PriorErrors& priors) {
  return Fit(observations, trend, priors).run();
}

}  // namespace sonde::engine::calibration
