SELECT p.state, p.exit_signal, s.kind, s.name, s.start_ns, s.dur_ns, s.depth, s.lane, i.number
FROM v_slice s JOIN v_process p ON p.id = s.process_id LEFT JOIN iteration i ON i.slice_id = s.id
ORDER BY s.start_ns, s.lane
