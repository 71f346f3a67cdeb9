#include "analysis/engine/calibration/known_factors.h"

#include <Eigen/Dense>

namespace sonde::engine::calibration {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd matrixOf(const std::vector<std::vector<double>>& rows) {
  const auto size = static_cast<Index>(rows.size());
  MatrixXd matrix(size, size);
  for (Index row = 0; row < size; ++row)
    matrix.row(row) =
        Eigen::Map<const VectorXd>(rows[static_cast<std::size_t>(row)].data(), size).transpose();
  return matrix;
}

}  // namespace

// The conditional normal distribution, averaged over the uncertainty of the condition.
Factors given(const Factors& factors, const std::vector<std::optional<double>>& known) {
  std::vector<Index> taken;
  std::vector<double> variances;
  for (std::size_t at = 0; at < known.size(); ++at) {
    if (known[at]) {
      taken.push_back(static_cast<Index>(at));
      variances.push_back(*known[at] * *known[at]);
    }
  }
  if (taken.empty())
    return factors;
  const auto count = static_cast<Index>(taken.size());
  const MatrixXd before = matrixOf(factors.covariance);
  const MatrixXd among = before(taken, taken);
  MatrixXd slopes =
      among.completeOrthogonalDecomposition().solve(before(taken, Eigen::all)).transpose();
  // also where their errors are equal
  slopes(taken, Eigen::all) = MatrixXd::Identity(count, count);
  const VectorXd values =
      Eigen::Map<const VectorXd>(factors.values.data(), static_cast<Index>(factors.values.size()));
  const VectorXd errors = Eigen::Map<const VectorXd>(variances.data(), count);
  const VectorXd after = values + slopes * (VectorXd::Ones(count) - values(taken));
  const MatrixXd covariance =
      before + slopes * (MatrixXd(errors.asDiagonal()) - among) * slopes.transpose();
  Factors result = factors;
  for (std::size_t at = 0; at < known.size(); ++at) {
    result.values[at] = after(static_cast<Index>(at));
    for (std::size_t other = 0; other < known.size(); ++other)
      result.covariance[at][other] = covariance(static_cast<Index>(at), static_cast<Index>(other));
  }
  return result;
}

}  // namespace sonde::engine::calibration
