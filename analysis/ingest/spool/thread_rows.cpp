#include "analysis/ingest/spool/thread_rows.h"

#include "analysis/ingest/rows/state_codec.h"

#include <string>
#include <utility>

namespace sonde::ingest {
namespace {

struct PackedThread {
  std::uint32_t index;
  std::uint32_t name;
  std::int64_t row;
  std::int64_t tid;
  std::int64_t startNs;
  std::int64_t endNs;
  std::int64_t lastId;
  std::int64_t lastNs;
  model::Owner lastOwner;
  bool hasStart;
  bool hasEnd;
};

}  // namespace

void ThreadRows::define(const wire::ThreadDefinition& definition) {
  if (!threads_.contains(definition.thread) &&
      image_.sink.state(image_.spool, "thread", definition.thread).empty())
    add(definition);
}

void ThreadRows::defineName(const wire::ThreadNameDefinition& definition) {
  ImageThread& thread = threadOf(definition.thread);
  thread.changed = thread.changed || thread.name != definition.name;
  thread.name = definition.name;
}

// A thread that has ended may reappear: its slots are not read in the order of their records.
ImageThread& ThreadRows::threadOf(std::uint32_t index) {
  const auto found = threads_.find(index);
  if (found != threads_.end())
    return *found->second;
  if (const std::string blob = image_.sink.state(image_.spool, "thread", index); !blob.empty())
    return *(threads_[index] = unpack(blob));
  // In a damaged file, records may come before the definition of their thread.
  wire::ThreadDefinition unknown{};
  unknown.thread = index;
  return add(unknown);
}

ImageThread& ThreadRows::add(const wire::ThreadDefinition& definition) {
  auto thread = std::make_unique<ImageThread>();
  thread->index = definition.thread;
  thread->row.processId = image_.process.row.id;
  thread->row.tid = definition.tid;
  if (definition.startTicks != 0)
    thread->row.startNs = image_.time.toNs(definition.startTicks);
  const std::vector<OfTid>& same = byTid_[definition.tid];
  if (!same.empty() && same.back().isOnlyCalled) {
    thread->row.id = same.back().row;
    image_.sink.update(thread->row);
  } else {
    thread->row.id = image_.sink.add(thread->row);
  }
  noteTid(*thread);
  return *(threads_[definition.thread] = std::move(thread));
}

void ThreadRows::noteTid(const ImageThread& thread) {
  std::vector<OfTid>& same = byTid_[thread.row.tid];
  if (!same.empty() && same.back().row == thread.row.id)
    same.pop_back();
  same.push_back({thread.row.startNs.value_or(0), thread.row.id, false});
}

model::ThreadId ThreadRows::rowOf(std::int32_t tid, std::int64_t ns) {
  std::vector<OfTid>& same = byTid_[tid];
  for (auto thread = same.rbegin(); thread != same.rend(); ++thread) {
    if (thread->startNs <= ns)
      return thread->row;
  }
  // For Sonde a thread begins with its first recorded action, which may come after this.
  if (!same.empty())
    return same.front().row;
  model::Thread row;
  row.processId = image_.process.row.id;
  row.tid = tid;
  row.id = image_.sink.add(row);
  same.push_back({ns, row.id, true});
  image_.sink.setState(image_.spool, "tid", tid, row.id.value);
  return row.id;
}

void ThreadRows::save() {
  for (auto& [index, thread] : threads_)
    if (thread->changed)
      save(*thread);
  dropEnded();
}

void ThreadRows::save(ImageThread& thread) {
  for (TrackScope& scope : thread.track.open()) {
    if (scope.changed)
      image_.sink.add(model::OpenScope{image_.spool, scope.token, scope.slice});
    scope.changed = false;
    scope.stored = true;
  }
  if (thread.name != 0)
    thread.row.name = image_.dictionary.text(thread.name);
  image_.sink.update(thread.row);
  PackedThread packed{};
  packed.index = thread.index;
  packed.name = thread.name;
  packed.row = thread.row.id.value;
  packed.tid = thread.row.tid;
  packed.startNs = thread.row.startNs.value_or(0);
  packed.hasStart = thread.row.startNs.has_value();
  packed.endNs = thread.row.endNs.value_or(0);
  packed.hasEnd = thread.row.endNs.has_value();
  packed.lastId = thread.lastId;
  packed.lastNs = thread.lastNs;
  packed.lastOwner = thread.lastOwner;
  StatePacker out;
  out.put(packed);
  out.putAll(thread.track.lanes());
  image_.sink.setState(image_.spool, "thread", thread.index, std::string_view(out.bytes()));
  thread.changed = false;
}

std::unique_ptr<ImageThread> ThreadRows::unpack(std::string_view blob) const {
  StateUnpacker in(blob);
  const auto packed = in.get<PackedThread>();
  auto thread = std::make_unique<ImageThread>();
  thread->index = packed.index;
  thread->name = packed.name;
  thread->row.id = {packed.row};
  thread->row.processId = image_.process.row.id;
  thread->row.tid = packed.tid;
  if (packed.hasStart)
    thread->row.startNs = packed.startNs;
  if (packed.hasEnd)
    thread->row.endNs = packed.endNs;
  thread->lastId = packed.lastId;
  thread->lastNs = packed.lastNs;
  thread->lastOwner = packed.lastOwner;
  thread->track.lanes() = in.getAll<std::int64_t>();
  thread->changed = false;
  return thread;
}

// A process may start and end any number of threads.
void ThreadRows::dropEnded() {
  std::erase_if(threads_, [](const auto& entry) {
    const ImageThread& thread = *entry.second;
    return thread.row.endNs && thread.track.open().empty() && !thread.changed;
  });
}

void ThreadRows::restore(std::uint32_t index, std::string_view blob) {
  noteTid(*(threads_[index] = unpack(blob)));
}

// A thread with that kernel id and more than calls took over the row.
void ThreadRows::restoreCalled(std::int64_t tid, model::ThreadId row) {
  std::vector<OfTid>& same = byTid_[tid];
  if (same.empty())
    same.push_back({0, row, true});
}

}  // namespace sonde::ingest
