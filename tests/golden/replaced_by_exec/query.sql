SELECT p.id, p.parent_id, x.exec_count, p.rank, p.state, p.exit_status, p.start_ns, s.kind, s.name, s.dur_ns,
  CASE a.key WHEN 'path' THEN a.value END AS path
FROM v_process p JOIN process x ON x.id = p.id LEFT JOIN v_slice s ON s.process_id = p.id
LEFT JOIN v_arg a ON a.owner = 'slice' AND a.owner_id = s.id ORDER BY p.start_ns, s.start_ns
