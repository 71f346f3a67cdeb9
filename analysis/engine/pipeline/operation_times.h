// How long operations take in a pipeline of another shape. Plain values; any thread.
//
// In the job's own shape each operation keeps its own time. With other chunks a stage's work is
// divided evenly among its chunks; with other stages the model's work is divided among all, as by
// dividedWork(). The work of a stage is the median over the copies of the model: a rank that is
// slower than those of other copies stays slower. Operations differ by microbatch as the measured
// ones do.
#pragma once

#include "analysis/engine/pipeline/pipeline_job.h"
#include "analysis/engine/whatif/scenario.h"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace sonde::engine::pipeline {

// The pipeline that is asked for.
struct Target {
  Schedule schedule = Schedule::OneF1B;
  Shape shape;
  double microbatchSize = 1;  // times the present one
};

// How many times as long a message takes. The messages of a pipeline have one size, so they do not
// tell how much of their time is latency: one half counts as latency, the other half as bandwidth.
// The first is the factor, the second its largest relative error.
std::pair<double, double> messageFactor(double microbatchSize);

// Which of the job's stages a stage of the target is made of, and for which it stands: the one at
// the same place. Each has at least one.
std::vector<std::vector<std::size_t>> sameStages(std::int64_t now, std::int64_t then);

class OperationTimes {
 public:
  // Requires: `job` outlives this.
  OperationTimes(const PipelineJob& job, const Target& target);

  // `stage` of the target. The row is that of a measured operation of the kind.
  Span own(std::size_t copy, std::size_t stage, const Turn& turn) const;
  // The time of a message with the operation's result, and of its receive.
  Span send(std::size_t copy, std::size_t stage, const Turn& turn) const;
  Span receive(std::size_t copy, std::size_t stage, const Turn& turn) const;
  // From the end of the operation that sends a message until the other stage has it.
  double arrivalNs(std::size_t copy, std::size_t from, std::size_t to, bool isForward) const;

  // Whether the operations are those of the job.
  bool isOwn() const noexcept { return job_.shape == target_.shape; }

 private:
  struct Mean {
    double sum = 0;
    double count = 0;
    double value() const noexcept { return count > 0 ? sum / count : 0; }
  };
  // By direction: backward, forward.
  struct CopyTimes {
    std::array<std::vector<std::vector<Mean>>, 2> own;  // by stage, then by chunk
    std::array<Mean, 2> send;
    std::array<Mean, 2> receive;
    Mean lag;
    std::array<std::vector<double>, 2> then;  // by stage of the target, if it has other stages
  };

  const StageOperation& measured(std::size_t copy,
                                 std::size_t stage,
                                 std::size_t chunk,
                                 const Turn& turn) const;
  double meanOf(const CopyTimes& times, std::size_t stage, const Turn& turn) const;
  void divideWork(std::size_t direction);

  const PipelineJob& job_;
  Target target_;
  std::vector<CopyTimes> copies_;
  // The places of the job's operations in their runs, by iteration, copy and stage, then by
  // direction, chunk and microbatch.
  std::vector<std::size_t> places_;
};

}  // namespace sonde::engine::pipeline
