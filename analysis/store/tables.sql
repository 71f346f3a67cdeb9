-- The tables of a trace, schema version 1. docs/schema.md explains every table and column; a test holds the two equal.
-- Times are int64 nanoseconds of the recording host's job time. No table has a secondary index here: indexes.sql adds
-- the few that readers need once recording is over.

-- The trace itself ------------------------------------------------------------------------------------------------
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE string(id INTEGER PRIMARY KEY, text TEXT NOT NULL);

-- Where things ran ------------------------------------------------------------------------------------------------
CREATE TABLE host(id INTEGER PRIMARY KEY, name TEXT NOT NULL, boot_id TEXT, os TEXT, cpu_model TEXT, cpu_count INTEGER,
  memory_bytes INTEGER);
CREATE TABLE process(id INTEGER PRIMARY KEY, host_id INTEGER NOT NULL REFERENCES host, pid INTEGER NOT NULL,
  parent_id INTEGER REFERENCES process, rank INTEGER, local_rank INTEGER, world_size INTEGER, command TEXT,
  start_ns INTEGER, end_ns INTEGER, exit_status INTEGER, exit_signal INTEGER,
  state TEXT NOT NULL CHECK(state IN ('running', 'exited', 'signalled', 'replaced', 'unknown')),
  pid_namespace INTEGER, start_time INTEGER, exec_count INTEGER, cpu_ns INTEGER);
CREATE TABLE thread(id INTEGER PRIMARY KEY, process_id INTEGER NOT NULL REFERENCES process, tid INTEGER NOT NULL,
  name TEXT, start_ns INTEGER, end_ns INTEGER);
CREATE TABLE device(id INTEGER PRIMARY KEY, host_id INTEGER NOT NULL REFERENCES host, kind TEXT NOT NULL,
  ordinal INTEGER NOT NULL, name TEXT, uuid TEXT, memory_bytes INTEGER, multiprocessors INTEGER, clock_khz INTEGER,
  memory_clock_khz INTEGER, memory_bus_bits INTEGER, capability TEXT);
CREATE TABLE stream(id INTEGER PRIMARY KEY, process_id INTEGER NOT NULL REFERENCES process,
  device_id INTEGER REFERENCES device, number INTEGER NOT NULL, name TEXT, priority INTEGER);

-- Clocks ----------------------------------------------------------------------------------------------------------
CREATE TABLE clock_sync(host_id INTEGER NOT NULL REFERENCES host, process_id INTEGER REFERENCES process,
  ticks INTEGER NOT NULL, monotonic_ns INTEGER NOT NULL, realtime_ns INTEGER NOT NULL);
CREATE TABLE clock_map(host_id INTEGER NOT NULL REFERENCES host, from_ns INTEGER NOT NULL, offset_ns INTEGER NOT NULL,
  drift_ppb INTEGER NOT NULL, error_ns INTEGER, PRIMARY KEY(host_id, from_ns)) WITHOUT ROWID;

-- Host activity ---------------------------------------------------------------------------------------------------
CREATE TABLE slice(id INTEGER PRIMARY KEY, thread_id INTEGER NOT NULL REFERENCES thread,
  kind TEXT NOT NULL CHECK(kind IN ('phase', 'operation', 'iteration', 'micro_step', 'forward', 'backward', 'optimizer',
    'data_load', 'checkpoint', 'evaluation', 'module', 'operator', 'api', 'collective', 'io', 'wait', 'python', 'range',
    'mark')),
  category TEXT NOT NULL, name_id INTEGER NOT NULL REFERENCES string, start_ns INTEGER NOT NULL, dur_ns INTEGER,
  parent_id INTEGER REFERENCES slice, depth INTEGER NOT NULL, lane INTEGER NOT NULL,
  scope_id INTEGER REFERENCES slice,
  scope_how TEXT NOT NULL CHECK(scope_how IN ('own', 'inherited', 'none')),
  correlation_id INTEGER, stack_id INTEGER REFERENCES stack);

-- Device activity -------------------------------------------------------------------------------------------------
CREATE TABLE kernel(id INTEGER PRIMARY KEY, stream_id INTEGER NOT NULL REFERENCES stream,
  name_id INTEGER NOT NULL REFERENCES string, start_ns INTEGER NOT NULL, dur_ns INTEGER, correlation_id INTEGER,
  launch_slice_id INTEGER REFERENCES slice, scope_id INTEGER REFERENCES slice,
  launch_delay_ns INTEGER, queued_ns INTEGER, submitted_ns INTEGER,
  graph_id INTEGER, graph_node_id INTEGER, bytes INTEGER, grid_x INTEGER, grid_y INTEGER, grid_z INTEGER,
  block_x INTEGER, block_y INTEGER, block_z INTEGER, registers INTEGER, static_shared_bytes INTEGER,
  dynamic_shared_bytes INTEGER, local_bytes INTEGER);
CREATE TABLE copy(id INTEGER PRIMARY KEY, stream_id INTEGER NOT NULL REFERENCES stream,
  name_id INTEGER NOT NULL REFERENCES string, start_ns INTEGER NOT NULL, dur_ns INTEGER, correlation_id INTEGER,
  launch_slice_id INTEGER REFERENCES slice, scope_id INTEGER REFERENCES slice,
  launch_delay_ns INTEGER, queued_ns INTEGER, submitted_ns INTEGER,
  graph_id INTEGER, graph_node_id INTEGER, bytes INTEGER,
  kind TEXT NOT NULL CHECK(kind IN ('host_to_device', 'device_to_host', 'device_to_device', 'host_to_host',
    'peer_to_peer', 'set', 'other')),
  peer_device_id INTEGER REFERENCES device, pinned INTEGER);
CREATE TABLE sync(id INTEGER PRIMARY KEY, process_id INTEGER REFERENCES process, stream_id INTEGER REFERENCES stream,
  kind TEXT NOT NULL CHECK(kind IN ('stream', 'context', 'event', 'record', 'wait')), event_id INTEGER,
  waits_for_id INTEGER REFERENCES sync, start_ns INTEGER NOT NULL, dur_ns INTEGER, correlation_id INTEGER);

CREATE TABLE device_metric(slice_id INTEGER REFERENCES slice, thread_id INTEGER NOT NULL REFERENCES thread,
  device_id INTEGER NOT NULL REFERENCES device, name_id INTEGER NOT NULL REFERENCES string, start_ns INTEGER NOT NULL,
  dur_ns INTEGER NOT NULL, value REAL);

-- Facts about rows, and ties between them ---------------------------------------------------------------------------
CREATE TABLE arg(owner TEXT NOT NULL CHECK(owner IN ('process', 'thread', 'device', 'slice', 'kernel', 'copy', 'sync',
    'collective', 'channel', 'transfer', 'iteration', 'communicator')),
  owner_id INTEGER NOT NULL, key_id INTEGER NOT NULL REFERENCES string, value);
CREATE TABLE link(kind TEXT NOT NULL,
  from_owner TEXT NOT NULL CHECK(from_owner IN ('process', 'thread', 'slice', 'kernel', 'copy', 'sync', 'collective',
    'transfer', 'iteration')),
  from_id INTEGER NOT NULL,
  to_owner TEXT NOT NULL CHECK(to_owner IN ('process', 'thread', 'slice', 'kernel', 'copy', 'sync', 'collective',
    'transfer', 'iteration')),
  to_id INTEGER NOT NULL);

-- Communication ---------------------------------------------------------------------------------------------------
CREATE TABLE communicator(id INTEGER PRIMARY KEY, process_id INTEGER NOT NULL REFERENCES process,
  job_key TEXT NOT NULL, size INTEGER NOT NULL, position INTEGER, backend TEXT);
CREATE TABLE communicator_member(communicator_id INTEGER NOT NULL REFERENCES communicator, position INTEGER NOT NULL,
  rank INTEGER, process_id INTEGER REFERENCES process, PRIMARY KEY(communicator_id, position)) WITHOUT ROWID;
CREATE TABLE collective(id INTEGER PRIMARY KEY, process_id INTEGER NOT NULL REFERENCES process,
  communicator_id INTEGER REFERENCES communicator, seq INTEGER,
  op TEXT NOT NULL CHECK(op IN ('allreduce', 'broadcast', 'reduce', 'allgather', 'reducescatter', 'alltoall', 'gather',
    'scatter', 'barrier', 'send', 'receive', 'scan', 'exscan', 'neighborallgather',
    'neighboralltoall')),
  algorithm TEXT, protocol TEXT, dtype TEXT, bytes INTEGER, send_bytes INTEGER, recv_bytes INTEGER, root INTEGER,
  peer INTEGER, slice_id INTEGER REFERENCES slice, kernel_id INTEGER REFERENCES kernel, start_ns INTEGER NOT NULL,
  dur_ns INTEGER, wait_ns INTEGER, transfer_ns INTEGER);
CREATE TABLE channel(id INTEGER PRIMARY KEY, process_id INTEGER NOT NULL REFERENCES process,
  kind TEXT NOT NULL CHECK(kind IN ('tcp', 'unix', 'pipe', 'mpi', 'nccl')), local TEXT NOT NULL, remote TEXT NOT NULL,
  peer_channel_id INTEGER REFERENCES channel, inherited INTEGER NOT NULL CHECK(inherited IN (0, 1)), open_ns INTEGER);
CREATE TABLE transfer(id INTEGER PRIMARY KEY, channel_id INTEGER NOT NULL REFERENCES channel,
  thread_id INTEGER REFERENCES thread, direction TEXT NOT NULL CHECK(direction IN ('send', 'receive')),
  offset INTEGER NOT NULL, bytes INTEGER NOT NULL, exact INTEGER NOT NULL CHECK(exact IN (0, 1)),
  start_ns INTEGER NOT NULL, dur_ns INTEGER, collective_id INTEGER REFERENCES collective, step INTEGER, tag INTEGER,
  slice_id INTEGER REFERENCES slice, any_source INTEGER NOT NULL DEFAULT 0 CHECK(any_source IN (0, 1)));
CREATE TABLE handoff(slice_id INTEGER PRIMARY KEY REFERENCES slice, object INTEGER NOT NULL, kind TEXT NOT NULL
    CHECK(kind IN ('mutex', 'condition', 'rwlock', 'barrier', 'semaphore', 'thread', 'futex')),
  waker_thread_id INTEGER REFERENCES thread, waker_ns INTEGER, wakee_thread_id INTEGER NOT NULL REFERENCES thread,
  block_ns INTEGER NOT NULL, wake_ns INTEGER NOT NULL, certain INTEGER NOT NULL CHECK(certain IN (0, 1)));
CREATE TABLE io(slice_id INTEGER PRIMARY KEY REFERENCES slice, path_id INTEGER REFERENCES string, offset INTEGER,
  bytes INTEGER, disk_bytes INTEGER);

-- Training --------------------------------------------------------------------------------------------------------
CREATE TABLE iteration(id INTEGER PRIMARY KEY, process_id INTEGER NOT NULL REFERENCES process, number INTEGER NOT NULL,
  start_ns INTEGER NOT NULL, dur_ns INTEGER, probe_mask INTEGER NOT NULL, samples INTEGER, tokens INTEGER, flops REAL,
  slice_id INTEGER REFERENCES slice);
CREATE TABLE scalar(process_id INTEGER NOT NULL REFERENCES process, iteration INTEGER,
  name_id INTEGER NOT NULL REFERENCES string, value REAL, ts_ns INTEGER NOT NULL);
CREATE TABLE tensor(process_id INTEGER NOT NULL REFERENCES process, iteration INTEGER,
  name_id INTEGER NOT NULL REFERENCES string, collection TEXT NOT NULL,
  role TEXT NOT NULL CHECK(role IN ('weight', 'gradient', 'input', 'output', 'loss', 'other')),
  ts_ns INTEGER NOT NULL, dtype TEXT, shape TEXT, elements INTEGER, minimum REAL, maximum REAL, mean REAL, variance REAL,
  l1 REAL, l2 REAL, zeros INTEGER, nans INTEGER, infs INTEGER, p01 REAL, p05 REAL, p25 REAL, p50 REAL, p75 REAL,
  p95 REAL, p99 REAL, histogram TEXT, file TEXT, file_offset INTEGER);
CREATE TABLE counter(id INTEGER PRIMARY KEY, host_id INTEGER NOT NULL REFERENCES host,
  process_id INTEGER REFERENCES process, thread_id INTEGER REFERENCES thread, device_id INTEGER REFERENCES device,
  name_id INTEGER NOT NULL REFERENCES string, unit TEXT NOT NULL, kind TEXT NOT NULL DEFAULT 'gauge'
    CHECK(kind IN ('gauge', 'total')));
CREATE TABLE sample(counter_id INTEGER NOT NULL REFERENCES counter, ts_ns INTEGER NOT NULL, value REAL);

-- Code and memory -------------------------------------------------------------------------------------------------
CREATE TABLE mapping(process_id INTEGER NOT NULL REFERENCES process, start INTEGER NOT NULL, "end" INTEGER NOT NULL,
  file_offset INTEGER NOT NULL, path_id INTEGER NOT NULL REFERENCES string, build_id TEXT, from_ns INTEGER);
CREATE TABLE frame(id INTEGER PRIMARY KEY, kind TEXT NOT NULL CHECK(kind IN ('native', 'python', 'kernel')),
  name_id INTEGER NOT NULL REFERENCES string, path_id INTEGER REFERENCES string, line INTEGER, build_id TEXT,
  address INTEGER);
CREATE TABLE stack(id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES stack, frame_id INTEGER NOT NULL REFERENCES frame);
CREATE TABLE stack_sample(thread_id INTEGER NOT NULL REFERENCES thread, ts_ns INTEGER NOT NULL,
  stack_id INTEGER REFERENCES stack, weight INTEGER NOT NULL, truncated INTEGER NOT NULL DEFAULT 0,
  kind TEXT NOT NULL DEFAULT 'cpu' CHECK(kind IN ('cpu', 'blocked', 'event', 'other')),
  correlation_id INTEGER);
CREATE TABLE allocation(id INTEGER PRIMARY KEY, process_id INTEGER NOT NULL REFERENCES process, device_id INTEGER REFERENCES device,
  address INTEGER NOT NULL, bytes INTEGER NOT NULL, alloc_ns INTEGER NOT NULL, free_ns INTEGER,
  scope_id INTEGER REFERENCES slice, stack_id INTEGER REFERENCES stack, pool INTEGER, correlation_id INTEGER,
  slice_id INTEGER REFERENCES slice, thread_id INTEGER REFERENCES thread,
  allocator TEXT NOT NULL DEFAULT 'cuda' CHECK(allocator IN ('malloc', 'torch', 'cuda')));

-- Cost and losses of recording --------------------------------------------------------------------------------------
CREATE TABLE overhead(probe TEXT NOT NULL, api TEXT NOT NULL, mean_ns REAL NOT NULL, error_ns REAL, n INTEGER,
  method TEXT NOT NULL, process_id INTEGER REFERENCES process, before_ns REAL, inside_ns REAL, unrecorded_ns REAL);
CREATE TABLE overhead_covariance(probe TEXT NOT NULL, other_probe TEXT NOT NULL, covariance REAL NOT NULL,
  process_id INTEGER REFERENCES process);
CREATE TABLE probe_call(thread_id INTEGER NOT NULL REFERENCES thread, iteration_id INTEGER REFERENCES iteration,
  probe TEXT NOT NULL, api TEXT NOT NULL, recorded INTEGER NOT NULL, unrecorded INTEGER NOT NULL);
CREATE TABLE storing(host_id INTEGER NOT NULL REFERENCES host, start_ns INTEGER NOT NULL, dur_ns INTEGER NOT NULL);
CREATE TABLE loss(probe TEXT NOT NULL, kind TEXT NOT NULL, count INTEGER NOT NULL, reason TEXT NOT NULL,
  process_id INTEGER REFERENCES process);
CREATE TABLE note(id INTEGER PRIMARY KEY, ts_ns INTEGER, process_id INTEGER REFERENCES process,
  severity TEXT NOT NULL CHECK(severity IN ('info', 'warning', 'error')), source TEXT NOT NULL, text TEXT NOT NULL);

-- The recorder's state, so that a killed recorder can resume and store everything exactly once. Kept in a finished
-- trace, because the spool outlives that moment.
CREATE TABLE ingested(spool TEXT NOT NULL, seq INTEGER NOT NULL, consumed INTEGER NOT NULL,
  PRIMARY KEY(spool, seq)) WITHOUT ROWID;
CREATE TABLE open_scope(spool TEXT NOT NULL, thread_id INTEGER NOT NULL REFERENCES thread, token INTEGER NOT NULL,
  slice_id INTEGER NOT NULL, kind TEXT NOT NULL, category TEXT NOT NULL, name_id INTEGER NOT NULL REFERENCES string,
  start_ns INTEGER NOT NULL, parent_id INTEGER, depth INTEGER NOT NULL, lane INTEGER NOT NULL, scope_id INTEGER,
  scope_how TEXT NOT NULL, PRIMARY KEY(spool, thread_id, token)) WITHOUT ROWID;
CREATE TABLE open_call(process_id INTEGER NOT NULL REFERENCES process, thread_id INTEGER NOT NULL REFERENCES thread,
  depth INTEGER NOT NULL, kind TEXT NOT NULL, category TEXT NOT NULL, name_id INTEGER NOT NULL REFERENCES string,
  start_ns INTEGER NOT NULL, seen_ns INTEGER NOT NULL, slice_id INTEGER REFERENCES slice,
  collective_id INTEGER REFERENCES collective, communicator_id INTEGER REFERENCES communicator, seq INTEGER, op TEXT,
  bytes INTEGER, root INTEGER, peer INTEGER, channel_id INTEGER REFERENCES channel, tag INTEGER, object INTEGER,
  waits_for_thread_id INTEGER REFERENCES thread, PRIMARY KEY(process_id, thread_id, depth)) WITHOUT ROWID;
CREATE TABLE ingest_state(spool TEXT NOT NULL, kind TEXT NOT NULL, key INTEGER NOT NULL, value,
  PRIMARY KEY(spool, kind, key)) WITHOUT ROWID;

-- Derived tables --------------------------------------------------------------------------------------------------
CREATE TABLE finding(id INTEGER PRIMARY KEY, rule TEXT NOT NULL,
  verdict TEXT NOT NULL CHECK(verdict IN ('pass', 'fired', 'insufficient', 'skipped', 'error')),
  severity TEXT NOT NULL CHECK(severity IN ('info', 'warning', 'error')), message TEXT NOT NULL, entity TEXT,
  process_id INTEGER REFERENCES process, iteration INTEGER, value REAL, threshold REAL, samples INTEGER, start_ns INTEGER,
  dur_ns INTEGER, evidence TEXT);
CREATE TABLE line(owner TEXT NOT NULL CHECK(owner IN ('thread', 'stream', 'channel')), owner_id INTEGER NOT NULL,
  lane INTEGER NOT NULL, depth INTEGER NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,
  count INTEGER NOT NULL, min_level INTEGER, max_level INTEGER,
  PRIMARY KEY(owner, owner_id, lane, depth)) WITHOUT ROWID;
-- A key's columns come first, in key order. Otherwise the integrity_check of SQLite 3.40 mistakes a column of a WITHOUT
-- ROWID table for its neighbour, and reports NULLs that do not exist.
CREATE TABLE lod(owner TEXT NOT NULL CHECK(owner IN ('thread', 'stream', 'channel')), owner_id INTEGER NOT NULL,
  lane INTEGER NOT NULL, depth INTEGER NOT NULL, level INTEGER NOT NULL, start_ns INTEGER NOT NULL,
  event_id INTEGER NOT NULL, end_ns INTEGER NOT NULL, busy_ns INTEGER NOT NULL, count INTEGER NOT NULL, bytes INTEGER,
  kind TEXT NOT NULL, name_id INTEGER REFERENCES string,
  PRIMARY KEY(owner, owner_id, lane, depth, level, start_ns, event_id)) WITHOUT ROWID;
