// Collectives in which the parts of some ranks differ. A plain function; the database's thread.
#pragma once

#include "analysis/store/database.h"
#include "analysis/store/read_rows.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::rules {

// A rank's part of a collective.
struct CallRow {
  std::string jobKey;
  std::int64_t seq = 0;
  std::string name;  // of the rank
  std::string op;
  std::string dtype;  // empty: unknown
  std::string size;   // empty: unknown, or ranks may differ in it
  std::optional<std::int64_t> root;
  std::string state;  // only in dumps
  std::optional<std::int64_t> startNs;
  std::int64_t part = 1;  // of a coalesced call, whose parts have one number

  SONDE_COLUMNS(jobKey, seq, name, op, dtype, size, root, state, startNs, part)
};

struct DifferingCalls {
  std::int64_t calls = 0;   // of all ranks
  std::int64_t joined = 0;  // collectives with calls of two ranks or more
  std::vector<CallRow>
      rows;  // by group, number and rank; of the first 1000 collectives that differ
};

Result<DifferingCalls> readDifferingCalls(const store::Database& trace);

}  // namespace sonde::rules
