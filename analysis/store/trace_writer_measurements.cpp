// The rows of measurements: values, counters, stacks, memory, and what recording cost and lost.
#include "analysis/store/trace_writer.h"
#include "analysis/store/writer_state.h"

namespace sonde::store {

Result<void> TraceWriter::add(const model::Scalar& row) {
  return state_->insert(
      Table::Scalar, row.processId, row.iteration, row.nameId, row.value, row.tsNs);
}

Result<void> TraceWriter::add(const model::Tensor& row) {
  const auto& quantiles = row.quantiles;
  return state_->insert(Table::Tensor,
                        row.processId,
                        row.iteration,
                        row.nameId,
                        row.collection,
                        wordOf(row.role),
                        row.tsNs,
                        row.dtype,
                        row.shape,
                        row.elements,
                        row.minimum,
                        row.maximum,
                        row.mean,
                        row.variance,
                        row.l1,
                        row.l2,
                        row.zeros,
                        row.nans,
                        row.infs,
                        quantiles[0],
                        quantiles[1],
                        quantiles[2],
                        quantiles[3],
                        quantiles[4],
                        quantiles[5],
                        quantiles[6],
                        std::string_view(row.histogram),
                        row.file.empty() ? model::OptionalText() : model::OptionalText(row.file),
                        row.fileOffset);
}

Result<model::CounterId> TraceWriter::add(const model::Counter& row) {
  return state_->insertWithId(Table::Counter,
                              row.id,
                              row.hostId,
                              row.processId,
                              row.threadId,
                              row.deviceId,
                              row.nameId,
                              row.unit,
                              wordOf(row.kind));
}

Result<void> TraceWriter::add(const model::Sample& row) {
  return state_->insert(Table::Sample, row.counterId, row.tsNs, row.value);
}

Result<model::FrameId> TraceWriter::add(const model::Frame& row) {
  return state_->insertWithId(Table::Frame,
                              row.id,
                              wordOf(row.kind),
                              row.nameId,
                              row.pathId,
                              row.line,
                              row.buildId,
                              row.address);
}

Result<model::StackId> TraceWriter::add(const model::Stack& row) {
  return state_->insertWithId(Table::Stack, row.id, row.parentId, row.frameId);
}

Result<void> TraceWriter::add(const model::StackSample& row) {
  return state_->insert(Table::StackSample,
                        row.threadId,
                        row.tsNs,
                        row.stackId,
                        row.weightNs,
                        row.truncated,
                        word(row.kind),
                        row.correlationId);
}

Result<model::AllocationId> TraceWriter::add(const model::Allocation& row) {
  return state_->insertWithId(Table::Allocation,
                              row.id,
                              row.processId,
                              row.deviceId,
                              row.address,
                              row.bytes,
                              row.allocNs,
                              row.freeNs,
                              row.scopeId,
                              row.stackId,
                              row.pool,
                              row.correlationId,
                              row.sliceId,
                              row.threadId,
                              word(row.allocator));
}

Result<void> TraceWriter::add(const model::DeviceMetric& row) {
  return state_->insert(Table::DeviceMetric,
                        row.sliceId,
                        row.threadId,
                        row.deviceId,
                        row.nameId,
                        row.startNs,
                        row.durNs,
                        row.value);
}

Result<void> TraceWriter::add(const model::Overhead& row) {
  return state_->insert(Table::Overhead,
                        row.probe,
                        row.api,
                        row.meanNs,
                        row.errorNs,
                        row.n,
                        row.method,
                        row.processId,
                        row.beforeNs,
                        row.insideNs,
                        row.unrecordedNs);
}

Result<void> TraceWriter::add(const model::OverheadCovariance& row) {
  return state_->insert(
      Table::OverheadCovariance, row.probe, row.otherProbe, row.covariance, row.processId);
}

Result<void> TraceWriter::add(const model::ProbeCall& row) {
  return state_->insert(Table::ProbeCall,
                        row.threadId,
                        row.iterationId,
                        row.probe,
                        row.api,
                        row.recorded,
                        row.unrecorded);
}

Result<void> TraceWriter::add(const model::Loss& row) {
  return state_->insert(Table::Loss, row.probe, row.kind, row.count, row.reason, row.processId);
}

Result<model::NoteId> TraceWriter::add(const model::Note& row) {
  return state_->insertWithId(
      Table::Note, row.id, row.tsNs, row.processId, wordOf(row.severity), row.source, row.text);
}

}  // namespace sonde::store
