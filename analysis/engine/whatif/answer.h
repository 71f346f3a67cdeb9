// The answer to a question about a job. Uses the database's thread.
#pragma once

#include "analysis/engine/whatif/changed_paths.h"
#include "analysis/engine/whatif/question.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sonde::engine::whatif {

struct Answer {
  std::int64_t iterations = 0;  // 0: the job has none, and times are those of the whole trace
  double baselineNs = 0;        // measured mean of an iteration, and over the ranks
  double predictedNs = 0;
  double lowNs = 0;  // the interval in which the job's mean iteration will lie in 95 of 100 cases
  double highNs = 0;
  std::array<double, kOrigins> originShares{};  // of the critical paths afterwards, by Origin
  double identityError = 0;                     // of a replay with the gaps of other iterations
  std::vector<ChangedShare> before;
  std::vector<ChangedShare> after;
  std::vector<std::string> notes;  // sentences for people
  // When each node of the job begins afterwards, and how long it lasts; without nodes that
  // questions added.
  std::vector<std::int64_t> beginNs;
  std::vector<std::int64_t> durNs;

  double speedup() const noexcept { return predictedNs > 0 ? baselineNs / predictedNs : 0; }
};

// AskedJob::ask() of a job that is asked once. Errors are
// those of the questions; NotFound: the trace has nothing that takes time. `models` are used in
// place of the trace's own.
Result<Answer> answer(const store::Database& trace,
                      graph::TraceGraph job,
                      const std::vector<Question>& questions,
                      const models::ModelSet& models = {});

}  // namespace sonde::engine::whatif
