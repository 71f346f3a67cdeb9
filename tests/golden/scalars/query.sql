SELECT iteration, name, value, ts_ns FROM v_scalar ORDER BY ts_ns
