SELECT s.kind, i.number, s.start_ns, s.dur_ns, i.samples, i.tokens, i.flops,
  (SELECT group_concat(a.key || '=' || a.value) FROM v_arg a WHERE a.owner = 'slice' AND a.owner_id = s.id) AS arguments
FROM v_slice s LEFT JOIN iteration i ON i.slice_id = s.id WHERE s.kind <> 'micro_step' ORDER BY s.start_ns
