#include "tests/cudasim/core/truth.h"

#include "tests/cudasim/core/clock.h"
#include "tests/cudasim/core/kernel_watch.h"

#include <cupti.h>
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

namespace cudasim {
namespace {

constexpr size_t kBuffered = 1 << 20;

const std::map<uint32_t, const char*>& kindNames() {
  static const auto* names = new std::map<uint32_t, const char*>{
      {CUPTI_ACTIVITY_KIND_MEMCPY, "memcpy"},
      {CUPTI_ACTIVITY_KIND_MEMSET, "memset"},
      {CUPTI_ACTIVITY_KIND_DRIVER, "driver"},
      {CUPTI_ACTIVITY_KIND_RUNTIME, "runtime"},
      {CUPTI_ACTIVITY_KIND_DEVICE, "device"},
      {CUPTI_ACTIVITY_KIND_CONTEXT, "context"},
      {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kernel"},
      {CUPTI_ACTIVITY_KIND_OVERHEAD, "overhead"},
      {CUPTI_ACTIVITY_KIND_MEMCPY2, "memcpy2"},
      {CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, "unified_memory_counter"},
      {CUPTI_ACTIVITY_KIND_CUDA_EVENT, "cuda_event"},
      {CUPTI_ACTIVITY_KIND_STREAM, "stream"},
      {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "synchronization"},
      {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, "external_correlation"},
      {CUPTI_ACTIVITY_KIND_MEMORY2, "memory2"},
      {CUPTI_ACTIVITY_KIND_MEMORY_POOL, "memory_pool"},
      {CUPTI_ACTIVITY_KIND_GRAPH_TRACE, "graph_trace"},
      {CUPTI_ACTIVITY_KIND_JIT, "jit"}};
  return *names;
}

class Line {
 public:
  explicit Line(const char* kind) : text_("{\"kind\":\"") { (text_ += kind) += '"'; }
  Line& add(const char* key, uint64_t value) {
    char number[24];
    const char* end = std::to_chars(number, number + sizeof number, value).ptr;
    ((text_ += ",\"") += key) += "\":";
    text_.append(number, static_cast<size_t>(end - number));
    return *this;
  }
  Line& addIf(const char* key, uint64_t value) { return value ? add(key, value) : *this; }
  Line& add(const char* key, const char* value) {
    ((text_ += ",\"") += key) += "\":\"";
    for (; *value; ++value) {
      if (*value == '"' || *value == '\\') {
        text_ += '\\';
      }
      text_ += *value;
    }
    text_ += '"';
    return *this;
  }
  Line& add(const char* key, const Extent& extent) {
    char numbers[64];
    std::snprintf(numbers, sizeof numbers, "\":[%u,%u,%u]", extent.x, extent.y, extent.z);
    ((text_ += ",\"") += key) += numbers;
    return *this;
  }
  Line& add(const char* key, const Counters& counters) {
    ((text_ += ",\"") += key) += "\":{";
    for (size_t i = 0; i < kCounters; ++i) {
      text_ += i ? ",\"" : "\"";
      (text_ += counterName(static_cast<Counter>(i))) += "\":";
      text_ += std::to_string(counters.values[i]);
    }
    text_ += '}';
    return *this;
  }
  std::string end() { return text_ += "}\n"; }

 private:
  std::string text_;
};

struct File {
  std::mutex mutex;
  int fd = -1;
  std::string text;

  File() {
    if (const char* path = std::getenv("CUDASIM_TRUTH")) {
      fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    }
  }
  void append(const std::string& line) {
    const std::lock_guard lock(mutex);
    text += line;
    if (text.size() > kBuffered) {
      write();
    }
  }
  void write() {
    for (size_t done = 0; done < text.size();) {
      const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
      if (n <= 0) {
        break;
      }
      done += static_cast<size_t>(n);
    }
    text.clear();
  }
};

File& file() {
  static auto* instance = new File;  // used until the process has ended
  return *instance;
}

const char* kindName(const Activity& a) {
  const auto found = kindNames().find(a.kind);
  return found == kindNames().end() ? "unknown" : found->second;
}

}  // namespace

void writeTruth(const Activity& a) {
  if (file().fd < 0) {
    return;
  }
  Line line(kindName(a));
  if (a.name) {
    line.add("name", a.name);
  }
  line.add("traced", a.traced).add("device", a.device).add("context", a.context);
  line.add("stream", a.stream).add("correlation", a.correlation);
  line.add("start", a.start).add("end", a.end);
  line.addIf("forced", a.forced).addIf("type", a.type).addIf("bytes", a.bytes);
  line.addIf("address", a.address).addIf("value", a.value);
  line.addIf("src_kind", a.srcKind).addIf("dst_kind", a.dstKind);
  if (a.kind == CUPTI_ACTIVITY_KIND_MEMCPY2) {
    line.add("src_device", a.srcDevice).add("dst_device", a.dstDevice);
  }
  if (a.grid.x) {
    line.add("grid", a.grid).add("block", a.block).addIf("shared_memory", a.sharedMemory);
  }
  line.addIf("graph", a.graph).addIf("graph_node", a.graphNode);
  line.addIf("event", a.event).addIf("event_sync", a.eventSync);
  line.addIf("cbid", a.cbid).addIf("thread", a.thread).addIf("result", a.result);
  line.addIf("pool", a.pool).addIf("pool_bytes", a.poolBytes).addIf("pool_used", a.poolUsedBytes);
  line.addIf("flags", a.flags);
  line.addIf("external_kind", a.externalKind).addIf("external_id", a.externalId);
  if (a.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && everWatched()) {
    line.add("counters", countersOf(a.grid, a.block, a.ranNs));
  }
  file().append(line.end());
}

void writeRange(uint32_t device, uint64_t beginNs, uint64_t endNs) {
  if (file().fd < 0) {
    return;
  }
  Line line("range");
  line.add("traced", uint64_t{0}).add("device", device).add("ns", endNs - beginNs);
  line.add("start", toTicks(beginNs)).add("end", toTicks(endNs));
  file().append(line.end());
}

void writeLoss(const char* why, const Activity& a) {
  if (file().fd < 0) {
    return;
  }
  Line line(why);
  line.add("of", kindName(a)).add("device", a.device).add("context", a.context);
  line.add("stream", a.stream).add("correlation", a.correlation).add("start", a.start);
  line.addIf("type", a.type).addIf("graph_node", a.graphNode);
  file().append(line.end());
}

void flushTruth() {
  if (file().fd >= 0) {
    const std::lock_guard lock(file().mutex);
    file().write();
  }
}

}  // namespace cudasim
