SELECT s.kind, i.number, s.start_ns, s.dur_ns, i.probe_mask, c.probe, c.api, c.recorded, c.unrecorded, t.tid
FROM v_slice s LEFT JOIN iteration i ON i.slice_id = s.id LEFT JOIN probe_call c ON c.iteration_id = i.id
LEFT JOIN thread t ON t.id = c.thread_id
WHERE s.name = 'iteration' ORDER BY s.start_ns, c.probe
