SELECT t.start_ns, h.name AS thread, t.local, t.direction, t.bytes, c.op, c.seq
FROM v_transfer t JOIN v_thread h ON h.id = t.thread_id
LEFT JOIN collective c ON c.id = t.collective_id ORDER BY t.start_ns
