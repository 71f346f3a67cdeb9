SELECT t.rank, t.local, t.direction, t.offset, t.bytes, t.exact, t.start_ns, t.dur_ns, s.id IS NOT NULL AS paired,
  max(t.offset, s.offset) AS first_byte, min(t.offset + t.bytes, s.offset + s.bytes) AS past_last
FROM v_transfer t LEFT JOIN transfer s ON t.direction = 'receive' AND s.channel_id = t.peer_channel_id
  AND s.direction = 'send' AND s.offset < t.offset + t.bytes AND s.offset + s.bytes > t.offset
ORDER BY t.rank, t.local, t.offset, first_byte
