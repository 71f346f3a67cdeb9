-- Built by the finaliser, not while recording. Comments name the readers of each index.

-- The slices of a process, through its threads.
CREATE INDEX thread_by_process ON thread(process_id);
-- Timeline: one drawn row. Rows of a line do not overlap, so the row before a window is the last one that starts in or
-- before it. Also sweeps by thread.
CREATE INDEX slice_by_line ON slice(thread_id, lane, depth, start_ns);
CREATE INDEX slice_by_correlation ON slice(correlation_id) WHERE correlation_id IS NOT NULL;
CREATE INDEX kernel_by_stream ON kernel(stream_id, start_ns);
CREATE INDEX kernel_by_correlation ON kernel(correlation_id) WHERE correlation_id IS NOT NULL;
CREATE INDEX copy_by_stream ON copy(stream_id, start_ns);
CREATE INDEX copy_by_correlation ON copy(correlation_id) WHERE correlation_id IS NOT NULL;
CREATE INDEX sync_by_stream ON sync(stream_id, start_ns);
CREATE INDEX sync_by_correlation ON sync(correlation_id) WHERE correlation_id IS NOT NULL;
-- Details of one row; rules that look for a key. The number comes first: SQLite sorts by it in half the time of a text.
CREATE INDEX arg_by_owner ON arg(owner_id, owner);
CREATE INDEX device_metric_by_slice ON device_metric(slice_id);
CREATE INDEX link_by_from ON link(from_owner, from_id);
CREATE INDEX link_by_to ON link(to_owner, to_id);
-- Joining ranks by (job_key, seq); exposed communication per rank.
CREATE INDEX collective_by_communicator ON collective(communicator_id, seq);
CREATE INDEX collective_by_process ON collective(process_id, start_ns);
-- Pairing sends with receives; the timeline's channels.
CREATE INDEX transfer_by_offset ON transfer(channel_id, direction, offset);
CREATE INDEX transfer_by_start ON transfer(channel_id, start_ns);
CREATE INDEX iteration_by_number ON iteration(process_id, number);
CREATE INDEX scalar_by_name ON scalar(process_id, name_id, iteration);
CREATE INDEX tensor_by_name ON tensor(process_id, name_id, iteration);
CREATE INDEX sample_by_time ON sample(counter_id, ts_ns);
CREATE INDEX stack_sample_by_time ON stack_sample(thread_id, ts_ns);
CREATE INDEX allocation_by_time ON allocation(process_id, alloc_ns);
CREATE INDEX handoff_by_wakee ON handoff(wakee_thread_id, wake_ns);
CREATE INDEX mapping_by_start ON mapping(process_id, start);
CREATE INDEX string_by_text ON string(text);
