// An embedding table that is kept as a product of three small tensors (tensor train), and how long
// its lookups take. Plain values; any thread.
//
// Source: "TT-Rec: Tensor Train Compression for Deep Learning Recommendation Models" (Yin et al.,
// MLSys 2021).
#pragma once

#include <array>
#include <cstdint>

namespace sonde::engine::models {

// Rows and columns are numbered in mixed radix. Tensor k has the shape
// rank(k-1) × rows[k] × dims[k] × rank(k), where the outer ranks are 1 and the others `rank`.
struct TtShape {
  std::array<std::int64_t, 3> rows = {};
  std::array<std::int64_t, 3> dims = {};
  std::int64_t rank = 0;

  std::int64_t parameters() const noexcept;
  // Operations of the two products that make a row of the table.
  double flopsOfRow() const noexcept;
  // Numbers of the tensors that a row needs.
  std::int64_t readByRow() const noexcept;
};

// The most even shape: its rows are at least `rows`, its dims have the product `dim`. Requires: all
// are above 0.
TtShape ttShapeOf(std::int64_t rows, std::int64_t dim, std::int64_t rank);

}  // namespace sonde::engine::models
