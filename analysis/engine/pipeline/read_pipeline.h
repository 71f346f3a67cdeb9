// Finds the pipeline of a job. Uses the database's thread while it reads; then plain values.
#pragma once

#include "analysis/engine/operations/operation_graph.h"
#include "analysis/engine/pipeline/pipeline_job.h"
#include "analysis/engine/whatif/scenario.h"
#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::engine::pipeline {

// Durations are those that the scenario has now. NotFound: the trace shows no pipeline; the message
// names what is missing.
Result<PipelineJob> readPipeline(const store::Database& trace, const whatif::Scenario& scenario);

// The two kinds of traces. Within engine/pipeline.
//
// Operation-level traces have a span for each operation and each of its messages.
Result<PipelineJob> readOperationPipeline(const store::Database& trace,
                                          const whatif::Scenario& scenario);
// The same with what was read before. Requires: the scenario's graph began as `operations`.
Result<PipelineJob> operationPipelineOf(const operations::OperationRows& rows,
                                        const operations::OperationGraph& operations,
                                        const whatif::Scenario& scenario);
// Recorded traces have slices named or of kind "forward" and "backward", and messages between the
// threads that compute them. An operation that waits for no message is on the first part of the
// model, in backwards the last part; else it is on the part behind the sender's, with the same
// microbatch. The parts of a thread are its chunks.
Result<PipelineJob> readMessagePipeline(const store::Database& trace,
                                        const whatif::Scenario& scenario);
// Sets the number of microbatches. NotFound: stages do not compute each of them in each iteration.
Result<void> countMicrobatches(PipelineJob& job);

}  // namespace sonde::engine::pipeline
