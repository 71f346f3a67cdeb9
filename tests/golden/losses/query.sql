SELECT process_id, probe, kind, reason, count FROM v_loss ORDER BY process_id, probe, kind
