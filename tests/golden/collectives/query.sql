SELECT c.rank, c.job_key, c.size, m.position, c.seq, c.op, c.dtype, c.bytes, c.start_ns, c.dur_ns, s.name, s.scope
FROM v_collective c LEFT JOIN v_slice s ON s.id = c.slice_id
LEFT JOIN communicator m ON m.id = c.communicator_id ORDER BY c.rank, c.start_ns
