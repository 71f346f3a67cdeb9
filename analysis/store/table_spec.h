// The tables that TraceWriter fills, with the columns in the order in which it binds them. Within
// analysis/store. Constants; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace sonde::store {

enum class Table : std::size_t {
  Meta,
  String,
  Host,
  Process,
  Thread,
  Device,
  Stream,
  ClockSync,
  ClockMap,
  Mapping,
  Slice,
  Kernel,
  Copy,
  Sync,
  Arg,
  Link,
  Communicator,
  CommunicatorMember,
  Collective,
  Channel,
  Transfer,
  Iteration,
  Scalar,
  Tensor,
  Counter,
  Sample,
  Frame,
  Stack,
  StackSample,
  Allocation,
  DeviceMetric,
  FileAccess,
  Handoff,
  Overhead,
  OverheadCovariance,
  ProbeCall,
  Loss,
  Note,
  Ingested,
  OpenScope,
  OpenCall,
  Count,
};

struct TableSpec {
  std::string_view name;
  std::string_view columns;

  constexpr bool hasId() const noexcept { return columns.starts_with("id,"); }
};

// Indexed by Table.
inline constexpr std::array<TableSpec, static_cast<std::size_t>(Table::Count)> kTables{{
    {"meta", "key, value"},
    {"string", "id, text"},
    {"host", "id, name, boot_id, os, cpu_model, cpu_count, memory_bytes"},
    {"process",
     "id, host_id, pid, parent_id, rank, local_rank, world_size, command, start_ns, end_ns, "
     "exit_status, exit_signal, state, pid_namespace, start_time, exec_count, cpu_ns"},
    {"thread", "id, process_id, tid, name, start_ns, end_ns"},
    {"device", "id, host_id, kind, ordinal, name, uuid, memory_bytes"},
    {"stream", "id, process_id, device_id, number, name, priority"},
    {"clock_sync", "host_id, process_id, ticks, monotonic_ns, realtime_ns"},
    {"clock_map", "host_id, from_ns, offset_ns, drift_ppb, error_ns"},
    {"mapping", "process_id, start, \"end\", file_offset, path_id, build_id, from_ns"},
    {"slice",
     "id, thread_id, kind, category, name_id, start_ns, dur_ns, parent_id, depth, lane, scope_id, "
     "scope_how, correlation_id, stack_id"},
    {"kernel",
     "id, stream_id, name_id, start_ns, dur_ns, correlation_id, launch_slice_id, scope_id, "
     "launch_delay_ns, queued_ns, submitted_ns, graph_id, graph_node_id, bytes, grid_x, grid_y, "
     "grid_z, block_x, "
     "block_y, block_z, registers, static_shared_bytes, dynamic_shared_bytes, local_bytes"},
    {"copy",
     "id, stream_id, name_id, start_ns, dur_ns, correlation_id, launch_slice_id, scope_id, "
     "launch_delay_ns, queued_ns, submitted_ns, graph_id, graph_node_id, bytes, kind, "
     "peer_device_id, pinned"},
    {"sync",
     "id, process_id, stream_id, kind, event_id, waits_for_id, start_ns, dur_ns, correlation_id"},
    {"arg", "owner, owner_id, key_id, value"},
    {"link", "kind, from_owner, from_id, to_owner, to_id"},
    {"communicator", "id, process_id, job_key, size, position, backend"},
    {"communicator_member", "communicator_id, position, rank, process_id"},
    {"collective",
     "id, process_id, communicator_id, seq, op, algorithm, protocol, dtype, bytes, send_bytes, "
     "recv_bytes, root, peer, slice_id, kernel_id, start_ns, dur_ns, wait_ns, transfer_ns"},
    {"channel", "id, process_id, kind, local, remote, peer_channel_id, inherited, open_ns"},
    {"transfer",
     "id, channel_id, thread_id, direction, offset, bytes, exact, start_ns, dur_ns, collective_id, "
     "step, tag, slice_id, any_source"},
    {"iteration",
     "id, process_id, number, start_ns, dur_ns, probe_mask, samples, tokens, flops, slice_id"},
    {"scalar", "process_id, iteration, name_id, value, ts_ns"},
    {"tensor",
     "process_id, iteration, name_id, collection, role, ts_ns, dtype, shape, elements, minimum, "
     "maximum, mean, variance, l1, l2, zeros, nans, infs, p01, p05, p25, p50, p75, p95, p99, "
     "histogram, file, file_offset"},
    {"counter", "id, host_id, process_id, thread_id, device_id, name_id, unit, kind"},
    {"sample", "counter_id, ts_ns, value"},
    {"frame", "id, kind, name_id, path_id, line, build_id, address"},
    {"stack", "id, parent_id, frame_id"},
    {"stack_sample", "thread_id, ts_ns, stack_id, weight, truncated, kind, correlation_id"},
    {"allocation",
     "id, process_id, device_id, address, bytes, alloc_ns, free_ns, scope_id, stack_id, "
     "pool, correlation_id, slice_id, thread_id, allocator"},
    {"device_metric", "slice_id, thread_id, device_id, name_id, start_ns, dur_ns, value"},
    {"io", "slice_id, path_id, offset, bytes, disk_bytes"},
    {"handoff",
     "slice_id, object, kind, waker_thread_id, waker_ns, wakee_thread_id, block_ns, wake_ns, "
     "certain"},
    {"overhead",
     "probe, api, mean_ns, error_ns, n, method, process_id, before_ns, inside_ns, unrecorded_ns"},
    {"overhead_covariance", "probe, other_probe, covariance, process_id"},
    {"probe_call", "thread_id, iteration_id, probe, api, recorded, unrecorded"},
    {"loss", "probe, kind, count, reason, process_id"},
    {"note", "id, ts_ns, process_id, severity, source, text"},
    {"ingested", "spool, seq, consumed"},
    {"open_scope",
     "spool, token, slice_id, thread_id, kind, category, name_id, start_ns, parent_id, depth, "
     "lane, scope_id, scope_how"},
    {"open_call",
     "process_id, thread_id, depth, kind, category, name_id, start_ns, seen_ns, slice_id, "
     "collective_id, communicator_id, seq, op, bytes, root, peer, channel_id, tag, object, "
     "waits_for_thread_id"},
}};

constexpr const TableSpec& specOf(Table table) noexcept {
  return kTables[static_cast<std::size_t>(table)];
}

}  // namespace sonde::store
