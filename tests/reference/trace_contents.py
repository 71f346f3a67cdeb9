"""What a trace file says, without its ids: sorted tuples that two traces can be compared by."""
import sqlite3

# By name: the compared rows. Times, names and places replace the ids of rows.
QUERIES = {
    "process": "SELECT p.pid, p.rank, p.world_size, p.command, h.name FROM process p JOIN host h ON h.id = p.host_id",
    "thread": "SELECT t.tid, coalesce(t.name, ''), p.pid FROM thread t JOIN process p ON p.id = t.process_id",
    "device": """
        SELECT h.name, d.kind, d.ordinal, d.name, d.memory_bytes, d.uuid FROM device d JOIN host h ON h.id = d.host_id""",
    "slice": """
        SELECT s.start_ns, s.dur_ns, s.kind, s.category, n.text, s.depth, s.lane, s.correlation_id, t.tid, p.pid,
          (SELECT o.start_ns || m.text FROM slice o JOIN string m ON m.id = o.name_id WHERE o.id = s.parent_id),
          (SELECT o.start_ns || m.text FROM slice o JOIN string m ON m.id = o.name_id WHERE o.id = s.scope_id)
        FROM slice s JOIN string n ON n.id = s.name_id JOIN thread t ON t.id = s.thread_id
          JOIN process p ON p.id = t.process_id""",
    "kernel": """
        SELECT k.start_ns, k.dur_ns, n.text, k.correlation_id, k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y,
          k.block_z, k.registers, k.static_shared_bytes, k.bytes, k.graph_id, k.graph_node_id, r.number, d.ordinal,
          p.pid, l.start_ns, o.start_ns
        FROM kernel k JOIN string n ON n.id = k.name_id JOIN stream r ON r.id = k.stream_id
          LEFT JOIN device d ON d.id = r.device_id JOIN process p ON p.id = r.process_id
          LEFT JOIN slice l ON l.id = k.launch_slice_id LEFT JOIN slice o ON o.id = k.scope_id""",
    "copy": """
        SELECT k.start_ns, k.dur_ns, n.text, k.kind, k.correlation_id, k.bytes, r.number, d.ordinal, p.pid, l.start_ns,
          o.start_ns
        FROM copy k JOIN string n ON n.id = k.name_id JOIN stream r ON r.id = k.stream_id
          LEFT JOIN device d ON d.id = r.device_id JOIN process p ON p.id = r.process_id
          LEFT JOIN slice l ON l.id = k.launch_slice_id LEFT JOIN slice o ON o.id = k.scope_id""",
    "sync": """
        SELECT k.start_ns, k.dur_ns, k.kind, k.event_id, k.correlation_id, r.number, w.start_ns
        FROM sync k LEFT JOIN stream r ON r.id = k.stream_id LEFT JOIN sync w ON w.id = k.waits_for_id""",
    "link": """
        SELECT l.kind, a.start_ns, a.depth, a.lane, b.start_ns, b.depth, b.lane, a.thread_id = b.thread_id
        FROM link l JOIN slice a ON a.id = l.from_id JOIN slice b ON b.id = l.to_id""",
    "iteration": """
        SELECT i.number, i.start_ns, i.dur_ns, p.pid FROM iteration i JOIN process p ON p.id = i.process_id""",
    "collective": """
        SELECT c.op, c.seq, c.bytes, c.dtype, c.start_ns, c.dur_ns, g.job_key, g.size, p.rank
        FROM collective c LEFT JOIN communicator g ON g.id = c.communicator_id
          JOIN process p ON p.id = c.process_id WHERE c.kernel_id IS NOT NULL""",
    "arg": "SELECT owner, value FROM arg a JOIN string k ON k.id = a.key_id WHERE k.text = 'args'",
    "scalar": """
        SELECT n.text, s.iteration, s.value, s.ts_ns, p.pid
        FROM scalar s JOIN string n ON n.id = s.name_id JOIN process p ON p.id = s.process_id""",
    "sample": """
        SELECT n.text, c.unit, s.ts_ns, s.value
        FROM sample s JOIN counter c ON c.id = s.counter_id JOIN string n ON n.id = c.name_id""",
}


def contents(path):
    trace = sqlite3.connect(path)
    try:
        return {name: sorted(trace.execute(query), key=repr) for name, query in QUERIES.items()}
    finally:
        trace.close()
