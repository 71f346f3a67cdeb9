// The names of work in a trace. Uses the database's thread while it reads; then plain values.
#pragma once

#include "analysis/engine/graph/graph.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace sonde::engine::whatif {

class WorkNames {
 public:
  static Result<WorkNames> read(const store::Database& trace, const graph::Graph& graph);

  // Empty: there is none.
  std::string ofKernel(std::int64_t row) const { return nameIn(kernels_, row); }
  std::string ofCopy(std::int64_t row) const { return nameIn(copies_, row); }
  std::string ofSlice(std::int64_t row) const;
  // That of the innermost slice of the thread around this stretch of the job's time.
  std::string around(graph::LaneIndex thread, std::int64_t beginNs, std::int64_t endNs) const;

 private:
  using Names = std::unordered_map<std::int64_t, std::int64_t>;  // row to name
  struct Slice {
    std::int64_t id = 0;
    std::int64_t parentId = 0;  // 0: none
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    std::int64_t nameId = 0;
  };

  std::string textOf(std::int64_t nameId) const;
  std::string nameIn(const Names& names, std::int64_t row) const;
  Result<void> readSlices(const store::Database& trace, const graph::Graph& graph);

  std::unordered_map<std::int64_t, std::string> texts_;
  Names kernels_;
  Names copies_;
  std::unordered_map<graph::LaneIndex, std::vector<Slice>> slices_;  // by begin, outer ones first
  std::unordered_map<std::int64_t, Slice> byId_;
};

}  // namespace sonde::engine::whatif
