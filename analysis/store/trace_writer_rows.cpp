// TraceWriter::add for each table. Columns in the order of table_spec.h.
#include "analysis/store/trace_writer.h"
#include "analysis/store/writer_state.h"

namespace sonde::store {

Result<void> TraceWriter::add(const model::Meta& row) {
  return state_->insert(Table::Meta, row.key, row.value);
}

Result<model::HostId> TraceWriter::add(const model::Host& row) {
  return state_->insertWithId(Table::Host,
                              row.id,
                              row.name,
                              row.bootId,
                              row.os,
                              row.cpuModel,
                              row.cpuCount,
                              row.memoryBytes);
}

Result<model::ProcessId> TraceWriter::add(const model::Process& row) {
  return state_->insertWithId(Table::Process,
                              row.id,
                              row.hostId,
                              row.pid,
                              row.parentId,
                              row.rank,
                              row.localRank,
                              row.worldSize,
                              row.command,
                              row.startNs,
                              row.endNs,
                              row.exitStatus,
                              row.exitSignal,
                              wordOf(row.state),
                              row.pidNamespace,
                              row.startTime,
                              row.execCount,
                              row.cpuNs);
}

Result<model::ThreadId> TraceWriter::add(const model::Thread& row) {
  return state_->insertWithId(
      Table::Thread, row.id, row.processId, row.tid, row.name, row.startNs, row.endNs);
}

Result<model::DeviceId> TraceWriter::add(const model::Device& row) {
  return state_->insertWithId(Table::Device,
                              row.id,
                              row.hostId,
                              row.kind,
                              row.ordinal,
                              row.name,
                              row.uuid,
                              row.memoryBytes);
}

Result<model::StreamId> TraceWriter::add(const model::Stream& row) {
  return state_->insertWithId(
      Table::Stream, row.id, row.processId, row.deviceId, row.number, row.name, row.priority);
}

Result<void> TraceWriter::add(const model::ClockSync& row) {
  return state_->insert(
      Table::ClockSync, row.hostId, row.processId, row.ticks, row.monotonicNs, row.realtimeNs);
}

Result<void> TraceWriter::add(const model::ClockMap& row) {
  return state_->insert(
      Table::ClockMap, row.hostId, row.fromNs, row.offsetNs, row.driftPpb, row.errorNs);
}

Result<void> TraceWriter::add(const model::Mapping& row) {
  return state_->insert(Table::Mapping,
                        row.processId,
                        row.start,
                        row.end,
                        row.fileOffset,
                        row.pathId,
                        row.buildId,
                        row.fromNs);
}

Result<model::SliceId> TraceWriter::add(const model::Slice& row) {
  return state_->insertWithId(Table::Slice,
                              row.id,
                              row.threadId,
                              wordOf(row.kind),
                              Word{row.category},
                              row.nameId,
                              row.startNs,
                              row.durNs,
                              row.parentId,
                              row.depth,
                              row.lane,
                              row.scopeId,
                              wordOf(row.scopeHow),
                              row.correlationId,
                              row.stackId);
}

Result<model::KernelId> TraceWriter::add(const model::Kernel& row) {
  return state_->insertWork(Table::Kernel,
                            row.id,
                            row.work,
                            row.grid.x,
                            row.grid.y,
                            row.grid.z,
                            row.block.x,
                            row.block.y,
                            row.block.z,
                            row.registers,
                            row.staticSharedBytes,
                            row.dynamicSharedBytes,
                            row.localBytes);
}

Result<model::CopyId> TraceWriter::add(const model::Copy& row) {
  return state_->insertWork(
      Table::Copy, row.id, row.work, wordOf(row.kind), row.peerDeviceId, row.pinned);
}

Result<model::SyncId> TraceWriter::add(const model::Sync& row) {
  return state_->insertWithId(Table::Sync,
                              row.id,
                              row.processId,
                              row.streamId,
                              wordOf(row.kind),
                              row.eventId,
                              row.waitsForId,
                              row.startNs,
                              row.durNs,
                              row.correlationId);
}

Result<void> TraceWriter::add(const model::Arg& row) {
  return state_->insert(Table::Arg, wordOf(row.owner), row.ownerId, row.keyId, row.value);
}

Result<void> TraceWriter::add(const model::Link& row) {
  return state_->insert(
      Table::Link, row.kind, wordOf(row.fromOwner), row.fromId, wordOf(row.toOwner), row.toId);
}

Result<model::CommunicatorId> TraceWriter::add(const model::Communicator& row) {
  return state_->insertWithId(
      Table::Communicator, row.id, row.processId, row.jobKey, row.size, row.position, row.backend);
}

Result<void> TraceWriter::add(const model::CommunicatorMember& row) {
  return state_->insert(
      Table::CommunicatorMember, row.communicatorId, row.position, row.rank, row.processId);
}

Result<model::CollectiveId> TraceWriter::add(const model::Collective& row) {
  return state_->insertWithId(Table::Collective,
                              row.id,
                              row.processId,
                              row.communicatorId,
                              row.seq,
                              wordOf(row.op),
                              row.algorithm,
                              row.protocol,
                              optionalWord(row.dtype),
                              row.bytes,
                              row.sendBytes,
                              row.recvBytes,
                              row.root,
                              row.peer,
                              row.sliceId,
                              row.kernelId,
                              row.startNs,
                              row.durNs,
                              row.waitNs,
                              row.transferNs);
}

Result<model::ChannelId> TraceWriter::add(const model::Channel& row) {
  return state_->insertWithId(Table::Channel,
                              row.id,
                              row.processId,
                              wordOf(row.kind),
                              row.local,
                              row.remote,
                              row.peerChannelId,
                              row.inherited,
                              row.openNs);
}

Result<model::TransferId> TraceWriter::add(const model::Transfer& row) {
  return state_->insertWithId(Table::Transfer,
                              row.id,
                              row.channelId,
                              row.threadId,
                              wordOf(row.direction),
                              row.offset,
                              row.bytes,
                              row.exact,
                              row.startNs,
                              row.durNs,
                              row.collectiveId,
                              row.step,
                              row.tag,
                              row.sliceId,
                              row.anySource);
}

Result<model::IterationId> TraceWriter::add(const model::Iteration& row) {
  return state_->insertWithId(Table::Iteration,
                              row.id,
                              row.processId,
                              row.number,
                              row.startNs,
                              row.durNs,
                              row.probeMask,
                              row.samples,
                              row.tokens,
                              row.flops,
                              row.sliceId);
}

Result<void> TraceWriter::add(const model::FileAccess& row) {
  return state_->insert(
      Table::FileAccess, row.sliceId, row.pathId, row.offset, row.bytes, row.diskBytes);
}

Result<void> TraceWriter::add(const model::Handoff& row) {
  return state_->insert(Table::Handoff,
                        row.sliceId,
                        row.object,
                        wordOf(row.kind),
                        row.wakerThreadId,
                        row.wakerNs,
                        row.wakeeThreadId,
                        row.blockNs,
                        row.wakeNs,
                        row.certain);
}

Result<void> TraceWriter::add(const model::OpenCall& row) {
  return state_->insert(Table::OpenCall,
                        row.processId,
                        row.threadId,
                        row.depth,
                        Word{row.kind},
                        Word{row.category},
                        row.nameId,
                        row.startNs,
                        row.seenNs,
                        row.sliceId,
                        row.collectiveId,
                        row.communicatorId,
                        row.seq,
                        row.op,
                        row.bytes,
                        row.root,
                        row.peer,
                        row.channelId,
                        row.tag,
                        row.object,
                        row.waitsForThreadId);
}

}  // namespace sonde::store
