// Finds a thread's innermost scope at an instant. Within analysis/finalise; plain values once read.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <vector>

namespace sonde::store {

class ScopeStack {
 public:
  // Requires: slice_by_line.
  static Result<ScopeStack> read(const Database& trace, std::int64_t threadId);

  bool isEmpty() const noexcept { return scopes_.empty(); }
  // The innermost scope open at `ns`; 0: none.
  std::int64_t innermostAt(std::int64_t ns) const;

 private:
  struct Scope {
    std::int64_t id = 0;
    std::int64_t startNs = 0;
    std::int64_t endNs = 0;
    std::int64_t outer = 0;  // id of the scope around it
  };
  std::vector<Scope> scopes_;                   // by start
  std::map<std::int64_t, std::size_t> places_;  // by id
};

}  // namespace sonde::store
