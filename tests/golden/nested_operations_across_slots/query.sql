SELECT s.thread, s.kind, s.name, s.start_ns, s.dur_ns, s.depth, s.lane, p.name AS parent, s.scope, s.scope_how
FROM v_slice s LEFT JOIN v_slice p ON p.id = s.parent_id ORDER BY s.tid, s.start_ns, s.depth
