// A job that is asked one question after another, each of the job as it was measured: what all
// answers share is computed once. Uses the database's thread.
#pragma once

#include "analysis/engine/whatif/answer.h"
#include "analysis/engine/whatif/changed_paths.h"
#include "analysis/engine/whatif/question.h"
#include "analysis/engine/whatif/scenario.h"

#include <memory>
#include <string>
#include <vector>

namespace sonde::engine::whatif {

class AskedJob {
 public:
  // `models` are used in place of the trace's own. `trace` must outlive this, and not change.
  // NotFound: the trace has nothing that takes time.
  static Result<AskedJob> read(const store::Database& trace,
                               graph::TraceGraph job,
                               models::ModelSet models = {});

  std::int64_t iterations() const noexcept { return iterations_; }  // as of Answer
  double baselineNs() const noexcept { return baselineNs_; }
  const store::Database& trace() const noexcept { return *trace_; }
  const Scenario& measured() const noexcept { return measured_; }
  const graph::TraceGraph& job() const noexcept { return measured_.job(); }
  const models::ModelSet& models() const noexcept { return models_; }

  // Asks the questions one after the other, each of the job as the ones before left it. Errors are
  // those of the questions.
  Result<Answer> ask(const std::vector<Question>& questions) const;

  // Answer::predictedNs alone, which takes less time.
  Result<double> predictNs(const std::vector<Question>& questions) const;

 private:
  AskedJob(const store::Database& trace, graph::TraceGraph job, models::ModelSet models);

  // The relative errors that questions state.
  struct Errors {
    double ofModels = 0;
    double ofOrder = 0;
  };
  Result<Errors> change(Scenario& scenario,
                        const std::vector<Question>& questions,
                        std::vector<std::string>& notes) const;

  const store::Database* trace_;
  std::shared_ptr<store::RowMemo> memo_;  // questions read the same rows again and again
  Scenario measured_;
  models::ModelSet models_;
  std::int64_t iterations_ = 0;
  double baselineNs_ = 0;
  double identityError_ = 0;
  std::vector<ChangedShare> before_;
};

}  // namespace sonde::engine::whatif
