// The job of the open trace, which the what-if view asks one question after another: its graph is
// read once. Any thread; one question at a time.
#pragma once

#include "analysis/engine/critical/path_parts.h"
#include "analysis/engine/optimise/plan.h"
#include "analysis/engine/whatif/asked_job.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace sonde::gui {

class AskedTrace {
 public:
  // Io: `isToStop` became true.
  [[nodiscard]] Result<engine::whatif::Answer> ask(
      const std::vector<engine::whatif::Question>& questions,
      const store::StopCheck& isToStop) const;
  // Names stretches of the job, as critical::partsOf().
  [[nodiscard]] Result<std::vector<engine::critical::PathPart>> name(
      const std::vector<engine::critical::Element>& stretches) const;
  [[nodiscard]] const engine::graph::TraceGraph& job() const { return job_.job(); }

 private:
  friend Result<AskedTrace> readAsked(const std::shared_ptr<const store::Database>& trace);
  AskedTrace(std::shared_ptr<const store::Database> trace, engine::whatif::AskedJob job)
      : trace_(std::move(trace)), job_(std::move(job)), mutex_(std::make_unique<std::mutex>()) {}

  std::shared_ptr<const store::Database> trace_;
  engine::whatif::AskedJob job_;
  std::unique_ptr<std::mutex> mutex_;
};

// NotFound: the trace has nothing that takes time.
[[nodiscard]] Result<AskedTrace> readAsked(const std::shared_ptr<const store::Database>& trace);

// The best settings; those found so far when `stop` becomes true. It reads the job again, so that
// questions can be asked meanwhile.
[[nodiscard]] Result<engine::optimise::Plan> findPlan(const store::Database& trace,
                                                      const std::atomic<bool>& stop);

}  // namespace sonde::gui
