-- Views with names resolved and times on the job's common clock: clock_map is applied. `start_ns` and `end_ns` are
-- absolute, `rel_ns` counts from meta.origin_ns. Before a host's first row of clock_map, times are taken as they are.

CREATE VIEW v_process AS
SELECT p.id,
  p.rank,
  p.local_rank,
  p.world_size,
  p.pid,
  p.parent_id,
  p.command,
  h.id AS host_id,
  h.name AS host,
  JOB_NS(p.start_ns, p) AS start_ns,
  JOB_NS(p.end_ns, p) AS end_ns,
  p.end_ns - p.start_ns AS dur_ns,
  p.state,
  p.exit_status,
  p.exit_signal,
  p.cpu_ns,
  JOB_NS(p.watermark_ns, p) AS watermark_ns
FROM (SELECT *, coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'watermark_ns:' || id),
    (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'watermark_ns')) AS watermark_ns FROM process) p JOIN host h ON h.id = p.host_id;

CREATE VIEW v_thread AS
SELECT t.id,
  p.id AS process_id,
  p.rank,
  p.pid,
  t.tid,
  coalesce(t.name, '') AS name,
  JOB_NS(t.start_ns, p) AS start_ns,
  JOB_NS(t.end_ns, p) AS end_ns,
  t.tid = p.pid AS is_main
FROM thread t JOIN process p ON p.id = t.process_id;

CREATE VIEW v_slice AS
SELECT s.id,
  p.id AS process_id,
  p.rank,
  p.pid,
  s.thread_id,
  t.tid,
  t.name AS thread,
  s.kind,
  s.category,
  n.text AS name,
  JOB_NS(s.start_ns, p) AS start_ns,
  s.dur_ns,
  JOB_NS(s.start_ns, p) + s.dur_ns AS end_ns,
  REL_NS(s.start_ns, p) AS rel_ns,
  s.parent_id,
  s.depth,
  s.lane,
  s.scope_id,
  o.kind AS scope_kind,
  m.text AS scope,
  s.scope_how,
  s.correlation_id,
  s.stack_id
FROM slice s JOIN thread t ON t.id = s.thread_id JOIN process p ON p.id = t.process_id
  LEFT JOIN string n ON n.id = s.name_id
  LEFT JOIN slice o ON o.id = s.scope_id LEFT JOIN string m ON m.id = o.name_id;

CREATE VIEW v_kernel AS
SELECT k.id,
  p.id AS process_id,
  p.rank,
  d.ordinal AS device,
  r.number AS stream,
  k.stream_id,
  n.text AS name,
  JOB_NS(k.start_ns, p) AS start_ns,
  k.dur_ns,
  JOB_NS(k.start_ns, p) + k.dur_ns AS end_ns,
  REL_NS(k.start_ns, p) AS rel_ns,
  k.correlation_id,
  k.launch_slice_id,
  k.scope_id,
  o.kind AS scope_kind,
  m.text AS scope,
  k.graph_id,
  k.graph_node_id,
  k.bytes,
  k.grid_x,
  k.grid_y,
  k.grid_z,
  k.block_x,
  k.block_y,
  k.block_z,
  k.registers,
  k.static_shared_bytes,
  k.dynamic_shared_bytes,
  k.local_bytes,
  k.launch_delay_ns
FROM kernel k JOIN stream r ON r.id = k.stream_id JOIN process p ON p.id = r.process_id
  LEFT JOIN device d ON d.id = r.device_id LEFT JOIN string n ON n.id = k.name_id
  LEFT JOIN slice o ON o.id = k.scope_id LEFT JOIN string m ON m.id = o.name_id;

CREATE VIEW v_copy AS
SELECT k.id,
  p.id AS process_id,
  p.rank,
  d.ordinal AS device,
  r.number AS stream,
  k.stream_id,
  n.text AS name,
  JOB_NS(k.start_ns, p) AS start_ns,
  k.dur_ns,
  JOB_NS(k.start_ns, p) + k.dur_ns AS end_ns,
  REL_NS(k.start_ns, p) AS rel_ns,
  k.correlation_id,
  k.launch_slice_id,
  k.scope_id,
  o.kind AS scope_kind,
  m.text AS scope,
  k.graph_id,
  k.graph_node_id,
  k.bytes,
  k.kind,
  k.pinned,
  k.launch_delay_ns
FROM copy k JOIN stream r ON r.id = k.stream_id JOIN process p ON p.id = r.process_id
  LEFT JOIN device d ON d.id = r.device_id LEFT JOIN string n ON n.id = k.name_id
  LEFT JOIN slice o ON o.id = k.scope_id LEFT JOIN string m ON m.id = o.name_id;

CREATE VIEW v_device_metric AS
SELECT p.id AS process_id,
  p.rank,
  d.ordinal AS device,
  m.device_id,
  m.thread_id,
  m.slice_id,
  s.kind,
  o.text AS operation,
  n.text AS name,
  JOB_NS(m.start_ns, p) AS start_ns,
  m.dur_ns,
  REL_NS(m.start_ns, p) AS rel_ns,
  m.value
FROM device_metric m JOIN thread t ON t.id = m.thread_id JOIN process p ON p.id = t.process_id
  JOIN device d ON d.id = m.device_id LEFT JOIN string n ON n.id = m.name_id
  LEFT JOIN slice s ON s.id = m.slice_id LEFT JOIN string o ON o.id = s.name_id;

CREATE VIEW v_collective AS
SELECT c.id,
  p.id AS process_id,
  p.rank,
  c.communicator_id,
  g.job_key,
  g.size,
  g.backend,
  c.seq,
  c.op,
  c.algorithm,
  c.protocol,
  c.dtype,
  c.bytes,
  c.send_bytes,
  c.recv_bytes,
  c.root,
  c.peer,
  c.slice_id,
  c.kernel_id,
  JOB_NS(c.start_ns, p) AS start_ns,
  c.dur_ns,
  JOB_NS(c.start_ns, p) + c.dur_ns AS end_ns,
  REL_NS(c.start_ns, p) AS rel_ns,
  c.wait_ns,
  c.transfer_ns
FROM collective c JOIN process p ON p.id = c.process_id LEFT JOIN communicator g ON g.id = c.communicator_id;

CREATE VIEW v_channel AS
SELECT c.id,
  p.id AS process_id,
  p.rank,
  p.pid,
  c.kind,
  c.local,
  c.remote,
  c.inherited,
  c.peer_channel_id,
  q.id AS peer_process_id,
  q.rank AS peer_rank,
  q.pid AS peer_pid,
  JOB_NS(c.open_ns, p) AS open_ns
FROM channel c JOIN process p ON p.id = c.process_id
  LEFT JOIN channel e ON e.id = c.peer_channel_id LEFT JOIN process q ON q.id = e.process_id;

CREATE VIEW v_transfer AS
SELECT x.id,
  p.id AS process_id,
  p.rank,
  x.channel_id,
  c.kind,
  c.local,
  c.remote,
  c.peer_channel_id,
  x.thread_id,
  x.direction,
  x.offset,
  x.bytes,
  x.exact,
  JOB_NS(x.start_ns, p) AS start_ns,
  x.dur_ns,
  JOB_NS(x.start_ns, p) + x.dur_ns AS end_ns,
  REL_NS(x.start_ns, p) AS rel_ns,
  x.collective_id,
  x.step,
  x.tag,
  x.slice_id,
  x.any_source
FROM transfer x JOIN channel c ON c.id = x.channel_id JOIN process p ON p.id = c.process_id;

CREATE VIEW v_io AS
SELECT s.id AS slice_id, s.process_id, s.rank, s.tid, s.name AS call, f.text AS path, io.offset, io.bytes, io.disk_bytes,
  CASE WHEN io.disk_bytes IS NULL THEN NULL WHEN io.disk_bytes > 0 THEN 'disk'
    WHEN s.dur_ns <= 20000 + io.bytes / 2 THEN 'page cache' ELSE 'waited' END AS served_by,
  s.scope, s.scope_kind, s.start_ns, s.dur_ns, s.rel_ns
FROM io JOIN v_slice s ON s.id = io.slice_id LEFT JOIN string f ON f.id = io.path_id;

CREATE VIEW v_handoff AS
SELECT s.id AS slice_id, s.process_id, s.rank, s.name AS call, h.kind, h.object, h.waker_thread_id, w.tid AS waker_tid,
  w.name AS waker, h.wakee_thread_id, s.tid AS wakee_tid, s.thread AS wakee, h.certain, s.scope, s.scope_kind,
  s.start_ns AS block_ns, s.start_ns + h.waker_ns - h.block_ns AS waker_ns, s.end_ns AS wake_ns, s.dur_ns, s.rel_ns
FROM handoff h JOIN v_slice s ON s.id = h.slice_id LEFT JOIN thread w ON w.id = h.waker_thread_id;

CREATE VIEW v_open_call AS
SELECT p.id AS process_id,
  p.rank,
  p.pid,
  o.thread_id,
  t.tid,
  t.name AS thread,
  o.depth,
  o.kind,
  o.category,
  n.text AS name,
  JOB_NS(o.start_ns, p) AS start_ns,
  o.seen_ns - o.start_ns AS age_ns,
  JOB_NS(o.seen_ns, p) AS seen_ns,
  o.slice_id,
  o.collective_id,
  o.communicator_id,
  m.job_key,
  m.size,
  o.seq,
  o.op,
  o.bytes,
  o.root,
  o.peer,
  o.channel_id,
  h.kind AS channel,
  h.local,
  h.remote,
  o.tag,
  o.object,
  o.waits_for_thread_id,
  w.tid AS waits_for_tid
FROM open_call o JOIN process p ON p.id = o.process_id JOIN thread t ON t.id = o.thread_id
  LEFT JOIN string n ON n.id = o.name_id LEFT JOIN communicator m ON m.id = o.communicator_id
  LEFT JOIN channel h ON h.id = o.channel_id LEFT JOIN thread w ON w.id = o.waits_for_thread_id;

CREATE VIEW v_iteration AS
SELECT i.id,
  p.id AS process_id,
  p.rank,
  i.number,
  JOB_NS(i.start_ns, p) AS start_ns,
  i.dur_ns,
  JOB_NS(i.start_ns, p) + i.dur_ns AS end_ns,
  REL_NS(i.start_ns, p) AS rel_ns,
  i.probe_mask,
  i.samples,
  i.tokens,
  i.flops,
  i.slice_id
FROM iteration i JOIN process p ON p.id = i.process_id;

CREATE VIEW v_scalar AS
SELECT p.id AS process_id,
  p.rank,
  s.iteration,
  n.text AS name,
  s.value,
  JOB_NS(s.ts_ns, p) AS ts_ns,
  REL_NS(s.ts_ns, p) AS rel_ns
FROM scalar s JOIN process p ON p.id = s.process_id LEFT JOIN string n ON n.id = s.name_id;

CREATE VIEW v_sample AS
SELECT c.id AS counter_id,
  h.name AS host,
  c.process_id,
  p.rank,
  t.tid,
  d.ordinal AS device,
  n.text AS name,
  c.unit,
  c.kind,
  JOB_NS(x.ts_ns, c) AS ts_ns,
  REL_NS(x.ts_ns, c) AS rel_ns,
  x.value
FROM sample x JOIN counter c ON c.id = x.counter_id JOIN host h ON h.id = c.host_id
  LEFT JOIN process p ON p.id = c.process_id LEFT JOIN thread t ON t.id = c.thread_id LEFT JOIN device d ON d.id = c.device_id LEFT JOIN string n ON n.id = c.name_id;

-- Rates of totals: growth until the next sample. A total that decreased was reset (e.g. a recreated network interface).
CREATE VIEW v_rate AS
SELECT s.counter_id, s.host, s.process_id, s.rank, s.tid, s.device, s.name,
  iif(s.unit = 'ns', '1', s.unit || '/s') AS unit,
  s.ts_ns, s.rel_ns, s.dur_ns,
  iif(s.unit = 'ns', 1.0, 1e9) * s.grown / s.dur_ns AS rate
FROM (SELECT *, lead(ts_ns) OVER line - ts_ns AS dur_ns, lead(value) OVER line - value AS grown
  FROM v_sample WHERE kind = 'total' WINDOW line AS (PARTITION BY counter_id ORDER BY ts_ns)) s
WHERE s.dur_ns > 0 AND s.grown >= 0;

CREATE VIEW v_arg AS
SELECT a.owner,
  a.owner_id,
  k.text AS key,
  a.value
FROM arg a LEFT JOIN string k ON k.id = a.key_id;

CREATE VIEW v_loss AS
SELECT l.probe,
  l.kind,
  l.reason,
  l.count,
  l.process_id,
  p.rank
FROM loss l LEFT JOIN process p ON p.id = l.process_id;

-- Messages that both ends recorded.
CREATE VIEW v_message AS
SELECT s.id AS send_id,
  r.id AS receive_id,
  s.rank AS sender,
  r.rank AS receiver,
  s.channel_id,
  s.tag,
  s.offset AS ordinal,
  s.bytes,
  r.bytes AS received_bytes,
  s.exact AND r.exact AS exact,
  r.any_source,
  s.start_ns AS send_ns,
  s.end_ns AS sent_ns,
  r.start_ns AS receive_ns,
  r.end_ns AS received_ns
FROM v_transfer s JOIN v_transfer r ON r.channel_id = s.peer_channel_id AND r.direction = 'receive'
    AND r.offset = s.offset AND r.tag = s.tag
WHERE s.kind = 'mpi' AND s.direction = 'send';
