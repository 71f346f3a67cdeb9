"""Reads a file in Perfetto's format by its published schema, as trace_processor does: begins and ends on tracks."""
import collections
import importlib
import pathlib
import subprocess
import sys

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "third_party" / "perfetto" / "perfetto_trace.proto"


def compile_schema(folder):
    """The module that protoc makes of the schema, in `folder`."""
    subprocess.run(["protoc", f"--python_out={folder}", f"--proto_path={SCHEMA.parent}", SCHEMA.name], check=True)
    sys.path.insert(0, str(folder))
    return importlib.import_module("perfetto_trace_pb2")


Slice = collections.namedtuple("Slice", "track start end category name depth flows args")


class PerfettoFile:
    """slices: all of them, with their depth on their track; tracks: uuid -> descriptor; counters: uuid -> samples."""

    def __init__(self, schema, path):
        event = schema.TrackEvent
        trace = schema.Trace.FromString(pathlib.Path(path).read_bytes())
        self.tracks, self.slices, self.instants = {}, [], []
        self.counters = collections.defaultdict(list)
        names, categories, events = {}, {}, []
        for packet in trace.packet:
            assert packet.trusted_packet_sequence_id == 1
            for entry in packet.interned_data.event_names:
                names[entry.iid] = entry.name
            for entry in packet.interned_data.event_categories:
                categories[entry.iid] = entry.name
            if packet.HasField("track_descriptor"):
                assert packet.track_descriptor.uuid not in self.tracks, "a uuid is of two tracks"
                self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            elif packet.HasField("track_event"):
                assert packet.track_event.track_uuid in self.tracks, "an event is on no track"
                events.append((packet.timestamp, packet.track_event))
        events.sort(key=lambda entry: entry[0])  # stable, as trace_processor sorts
        stacks = collections.defaultdict(list)
        for time, one in events:
            stack = stacks[one.track_uuid]
            if one.type == event.TYPE_COUNTER:
                self.counters[one.track_uuid].append((time, one.double_counter_value))
            elif one.type == event.TYPE_SLICE_END:
                start, begun = stack.pop()
                self.slices.append(self.made(start, time, begun, len(stack), names, categories))
            elif one.type == event.TYPE_INSTANT:
                self.instants.append(self.made(time, time, one, len(stack), names, categories))
            else:
                stack.append((time, one))
        self.unfinished = [self.made(start, None, begun, depth, names, categories)
                           for stack in stacks.values() for depth, (start, begun) in enumerate(stack)]

    @staticmethod
    def made(start, end, event, depth, names, categories):
        flows = [(flow, "out") for flow in event.flow_ids] + [(flow, "in") for flow in event.terminating_flow_ids]
        args = {annotation.name for annotation in event.debug_annotations}
        return Slice(event.track_uuid, start, end, categories[event.category_iids[0]], names[event.name_iid], depth, flows,
                     args)
