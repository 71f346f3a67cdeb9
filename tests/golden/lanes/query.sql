SELECT s.tid, s.name, s.kind, s.start_ns, s.dur_ns, s.lane, s.depth, p.name AS parent
FROM v_slice s LEFT JOIN v_slice p ON p.id = s.parent_id ORDER BY s.tid, s.lane, s.start_ns
