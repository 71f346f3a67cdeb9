#include "tests/cudasim/client/decode.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

namespace cudasim_client {
namespace {

using nlohmann::json;

constexpr uint32_t kCuda13 = 130000;

template <class Record>
const Record& as(const CUpti_Activity* record) {
  return *reinterpret_cast<const Record*>(record);
}

template <class Record>
json work(const Record& r, const char* kind) {
  return {{"kind", kind},
          {"device", r.deviceId},
          {"context", r.contextId},
          {"stream", r.streamId},
          {"correlation", r.correlationId},
          {"start", r.start},
          {"end", r.end}};
}

template <class Record>
json node(const Record& r, const char* kind) {
  json out = work(r, kind);
  out["graph"] = r.graphId;
  out["graph_node"] = r.graphNodeId;
  return out;
}

template <class Record>
json kernel(const CUpti_Activity* record) {
  const auto& r = as<Record>(record);
  json out = node(r, "kernel");
  out["name"] = r.name;
  out["grid"] = {r.gridX, r.gridY, r.gridZ};
  out["block"] = {r.blockX, r.blockY, r.blockZ};
  out["shared_memory"] = r.dynamicSharedMemory;
  return out;
}

template <class Record>
json memcpy(const CUpti_Activity* record, const char* kind) {
  const auto& r = as<Record>(record);
  json out = node(r, kind);
  out["bytes"] = r.bytes;
  out["type"] = r.copyKind;
  out["src_kind"] = r.srcKind;
  out["dst_kind"] = r.dstKind;
  return out;
}

json peer(const CUpti_Activity* record) {
  json out = memcpy<CUpti_ActivityMemcpyPtoP4>(record, "memcpy2");
  out["src_device"] = as<CUpti_ActivityMemcpyPtoP4>(record).srcDeviceId;
  out["dst_device"] = as<CUpti_ActivityMemcpyPtoP4>(record).dstDeviceId;
  return out;
}

json memset(const CUpti_Activity* record) {
  const auto& r = as<CUpti_ActivityMemset4>(record);
  json out = node(r, "memset");
  out["bytes"] = r.bytes;
  out["value"] = r.value;
  out["dst_kind"] = r.memoryKind;
  return out;
}

json api(const CUpti_Activity* record, const char* kind) {
  const auto& r = as<CUpti_ActivityAPI>(record);
  return {{"kind", kind},
          {"cbid", r.cbid},
          {"start", r.start},
          {"end", r.end},
          {"thread", r.threadId},
          {"correlation", r.correlationId},
          {"result", r.returnValue}};
}

template <class Record>
json synchronization(const CUpti_Activity* record) {
  const auto& r = as<Record>(record);
  return {{"kind", "synchronization"},
          {"type", r.type},
          {"start", r.start},
          {"end", r.end},
          {"correlation", r.correlationId},
          {"context", r.contextId},
          {"stream", r.streamId},
          {"event", r.cudaEventId}};
}

template <class Record>
json event(const CUpti_Activity* record) {
  const auto& r = as<Record>(record);
  return {{"kind", "cuda_event"},
          {"correlation", r.correlationId},
          {"context", r.contextId},
          {"stream", r.streamId},
          {"event", r.eventId}};
}

json memory(const CUpti_Activity* record) {
  const auto& r = as<CUpti_ActivityMemory4>(record);
  return {{"kind", "memory2"},
          {"type", r.memoryOperationType},
          {"dst_kind", r.memoryKind},
          {"address", r.address},
          {"bytes", r.bytes},
          {"start", r.timestamp},
          {"device", r.deviceId},
          {"context", r.contextId},
          {"stream", r.streamId},
          {"value", r.isAsync},
          {"pool", r.memoryPoolConfig.address},
          {"pool_bytes", r.memoryPoolConfig.pool.size},
          {"pool_used", r.memoryPoolConfig.utilizedSize},
          {"correlation", r.correlationId}};
}

template <class Record>
json pool(const CUpti_Activity* record) {
  const auto& r = as<Record>(record);
  return {{"kind", "memory_pool"},
          {"type", r.memoryPoolOperationType},
          {"pool", r.address},
          {"pool_bytes", r.size},
          {"pool_used", r.utilizedSize},
          {"bytes", r.minBytesToKeep},
          {"start", r.timestamp},
          {"device", r.deviceId},
          {"correlation", r.correlationId}};
}

template <class Record>
json unified(const CUpti_Activity* record) {
  const auto& r = as<Record>(record);
  return {{"kind", "unified_memory_counter"},
          {"type", r.counterKind},
          {"address", r.address},
          {"bytes", r.value},
          {"flags", r.flags},
          {"start", r.start},
          {"end", r.end}};
}

json device(const CUpti_Activity* record) {
  const auto& r = as<CUpti_ActivityDevice5>(record);
  return {{"kind", "device"},
          {"device", r.id},
          {"value", r.computeCapabilityMajor * 10 + r.computeCapabilityMinor}};
}

json context(const CUpti_Activity* record) {
  const auto& r = as<CUpti_ActivityContext3>(record);
  return {{"kind", "context"},
          {"device", r.deviceId},
          {"context", r.contextId},
          {"stream", r.nullStreamId}};
}

json stream(const CUpti_Activity* record) {
  const auto& r = as<CUpti_ActivityStream>(record);
  return {{"kind", "stream"},
          {"context", r.contextId},
          {"stream", r.streamId},
          {"value", r.priority},
          {"type", r.flag},
          {"correlation", r.correlationId}};
}

json graph(const CUpti_Activity* record) {
  json out = work(as<CUpti_ActivityGraphTrace2>(record), "graph_trace");
  out["graph"] = as<CUpti_ActivityGraphTrace2>(record).graphId;
  return out;
}

json overhead(const CUpti_Activity* record) {
  const auto& r = as<CUpti_ActivityOverhead3>(record);
  return {
      {"kind", "overhead"}, {"start", r.start}, {"end", r.end}, {"thread", r.objectId.pt.threadId}};
}

json jit(const CUpti_Activity* record) {
  const auto& r = as<CUpti_ActivityJit2>(record);
  return {{"kind", "jit"}, {"start", r.start}, {"end", r.end}, {"type", r.jitOperationType}};
}

json external(const CUpti_Activity* record) {
  const auto& r = as<CUpti_ActivityExternalCorrelation>(record);
  return {{"kind", "external_correlation"},
          {"external_kind", r.externalKind},
          {"external_id", r.externalId},
          {"correlation", r.correlationId}};
}

// For a record with different layouts in 13.0 and 12.6.
#define BY_VERSION(function, newer, older, ...)                            \
  (version >= kCuda13 ? function<newer>(record __VA_OPT__(, ) __VA_ARGS__) \
                      : function<older>(record __VA_OPT__(, ) __VA_ARGS__))

}  // namespace

json decode(const CUpti_Activity* record, uint32_t version) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return BY_VERSION(kernel, CUpti_ActivityKernel10, CUpti_ActivityKernel9);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return BY_VERSION(memcpy, CUpti_ActivityMemcpy6, CUpti_ActivityMemcpy5, "memcpy");
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return peer(record);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return memset(record);
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return api(record, "driver");
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return api(record, "runtime");
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return BY_VERSION(
          synchronization, CUpti_ActivitySynchronization2, CUpti_ActivitySynchronization);
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return BY_VERSION(event, CUpti_ActivityCudaEvent2, CUpti_ActivityCudaEvent);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return memory(record);
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
      return BY_VERSION(pool, CUpti_ActivityMemoryPool3, CUpti_ActivityMemoryPool2);
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
      return BY_VERSION(
          unified, CUpti_ActivityUnifiedMemoryCounter3, CUpti_ActivityUnifiedMemoryCounter2);
    case CUPTI_ACTIVITY_KIND_DEVICE:
      return device(record);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return context(record);
    case CUPTI_ACTIVITY_KIND_STREAM:
      return stream(record);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return graph(record);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return overhead(record);
    case CUPTI_ACTIVITY_KIND_JIT:
      return jit(record);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return external(record);
    default:
      return {{"kind", "unknown"}};
  }
}

size_t sizeOf(const CUpti_Activity* record, uint32_t version) {
  struct Sizes {
    size_t newer;
    size_t older;
  };
  static const auto* sizes = new std::map<CUpti_ActivityKind, Sizes>{
      {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
       {sizeof(CUpti_ActivityKernel10), sizeof(CUpti_ActivityKernel9)}},
      {CUPTI_ACTIVITY_KIND_MEMCPY, {sizeof(CUpti_ActivityMemcpy6), sizeof(CUpti_ActivityMemcpy5)}},
      {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
       {sizeof(CUpti_ActivitySynchronization2), sizeof(CUpti_ActivitySynchronization)}},
      {CUPTI_ACTIVITY_KIND_CUDA_EVENT,
       {sizeof(CUpti_ActivityCudaEvent2), sizeof(CUpti_ActivityCudaEvent)}},
      {CUPTI_ACTIVITY_KIND_MEMORY_POOL,
       {sizeof(CUpti_ActivityMemoryPool3), sizeof(CUpti_ActivityMemoryPool2)}},
      {CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
       {sizeof(CUpti_ActivityUnifiedMemoryCounter3), sizeof(CUpti_ActivityUnifiedMemoryCounter2)}}};
  const auto found = sizes->find(record->kind);
  return found == sizes->end() ? 0 : version >= kCuda13 ? found->second.newer : found->second.older;
}

std::vector<json> readLines(const std::string& path) {
  std::ifstream file(path);
  std::vector<json> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(json::parse(line));
  }
  return lines;
}

namespace {

// The keys that a record of a kind has.
const std::set<std::string>& keysOf(const std::string& kind) {
  static const auto* keys = [] {
    auto* all = new std::map<std::string, std::set<std::string>>;
    for (int id = 1; id <= CUPTI_ACTIVITY_KIND_JIT; ++id) {
      alignas(8) uint8_t bytes[1024] = {};
      auto* record = reinterpret_cast<CUpti_Activity*>(bytes);
      record->kind = static_cast<CUpti_ActivityKind>(id);
      if (id == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || id == CUPTI_ACTIVITY_KIND_KERNEL) {
        reinterpret_cast<CUpti_ActivityKernel10*>(bytes)->name = "";
      }
      const json decoded = decode(record, kCuda13);
      for (const auto& [key, value] : decoded.items()) {
        (*all)[decoded["kind"]].insert(key);
      }
    }
    return all;
  }();
  return keys->at(kind);
}

json asRecord(const json& line) {
  json out = json::object();
  const bool forced = line.value("forced", 0) != 0;
  for (const std::string& key : keysOf(line["kind"])) {
    out[key] = forced && (key == "start" || key == "end") ? json(0) : line.value(key, json(0));
  }
  return out;
}

// The members that identify a record in its own line and in the line that reports its loss.
using Identity = std::vector<json>;

Identity identity(const json& line, const char* kind) {
  Identity out{line[kind]};
  for (const char* key : {"device", "context", "stream", "correlation", "type", "graph_node"}) {
    out.push_back(line.value(key, uint64_t{0}));
  }
  out.push_back(line.value("forced", 0) ? json(0) : line["start"]);
  return out;
}

}  // namespace

std::vector<json> owed(const std::vector<json>& truth) {
  std::multiset<Identity> lost;
  for (const json& line : truth) {
    if (line.contains("of")) {
      lost.insert(identity(line, "of"));
    }
  }
  std::vector<json> out;
  for (const json& line : truth) {
    if (line.contains("of") || !line["traced"].get<int>()) {
      continue;
    }
    const auto found = lost.find(identity(line, "kind"));
    if (found == lost.end()) {
      out.push_back(asRecord(line));
    } else {
      lost.erase(found);
    }
  }
  return out;
}

std::vector<std::string> sorted(const std::vector<json>& records) {
  std::vector<std::string> out;
  for (const json& record : records) {
    out.push_back(record.dump());
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace cudasim_client
