SELECT name, start_ns, dur_ns FROM v_slice ORDER BY start_ns
