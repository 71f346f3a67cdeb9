SELECT s.tid, s.kind, s.name, s.start_ns, s.dur_ns,
  (SELECT a.value FROM v_arg a WHERE a.owner = 'slice' AND a.owner_id = s.id AND a.key = 'sonde.at_most_ns') AS at_most_ns,
  s.depth, s.lane, s.scope, s.scope_how, i.number, i.dur_ns AS iteration_ns, l.end_ns AS line_end_ns
FROM v_slice s LEFT JOIN iteration i ON i.slice_id = s.id
JOIN line l ON l.owner = 'thread' AND l.owner_id = s.thread_id AND l.lane = s.lane AND l.depth = s.depth
ORDER BY s.start_ns, s.depth
