// A libcupti that delivers the records of the file CUPTI_REPLAY (format.h) at the first flush, in
// the buffers that a client registers. It returns success for everything else that Sonde's CUDA
// probe calls.
#include "collector/preload/cuda/activity/cupti_records.h"
#include "tests/cupti_records/format.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace sonde::preload::cupti;
using sonde::test::EntryHeader;
using sonde::test::EntryKind;
using sonde::test::padded;

struct Entry {
  std::vector<std::uint8_t> record;
  std::string text;
};

struct Recording {
  std::uint32_t version = 0;
  std::vector<Entry> records;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> callbacks;
};

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "cupti_replay: %s\n", what.c_str());
  std::exit(1);
}

class Reader {
 public:
  explicit Reader(const char* path) : file_(path == nullptr ? "" : path, std::ios::binary) {}

  bool read(void* into, std::uint32_t bytes) {
    std::vector<char> padding(padded(bytes) - bytes);
    file_.read(static_cast<char*>(into), bytes);
    const bool isWhole = file_.gcount() == static_cast<std::streamsize>(bytes);
    file_.read(padding.data(), static_cast<std::streamsize>(padding.size()));
    return isWhole;
  }

 private:
  std::ifstream file_;
};

void point(Entry& entry) {
  auto* const bytes = entry.record.data();
  const Kind kind = reinterpret_cast<Record*>(bytes)->kind;
  if (kind == Kind::ConcurrentKernel || kind == Kind::Kernel)
    reinterpret_cast<KernelRecord*>(bytes)->name = entry.text.c_str();
  if (kind == Kind::Device)
    reinterpret_cast<DeviceRecord*>(bytes)->name = entry.text.c_str();
}

Recording load() {
  Reader reader(std::getenv("CUPTI_REPLAY"));
  sonde::test::FileHeader header{};
  if (!reader.read(&header, sizeof header) ||
      std::memcmp(header.magic, sonde::test::kRecordsMagic, sizeof header.magic) != 0)
    fail("CUPTI_REPLAY names no file of CUPTI's records");
  Recording recording;
  recording.version = header.cuptiVersion;
  EntryHeader entry{};
  while (reader.read(&entry, sizeof entry)) {
    std::string text(entry.textBytes, '\0');
    std::vector<std::uint8_t> record(entry.recordBytes);
    if (!reader.read(text.data(), entry.textBytes) ||
        !reader.read(record.data(), entry.recordBytes))
      fail("the file is cut short");
    if (entry.kind == EntryKind::CallbackName)
      recording.callbacks[{entry.domain, entry.cbid}] = text;
    else if (entry.kind == EntryKind::Record)
      recording.records.push_back({std::move(record), std::move(text)});
  }
  for (Entry& each : recording.records)
    point(each);
  return recording;
}

Recording& recording() {
  static auto* const loaded = new Recording(load());
  return *loaded;
}

BufferRequested gRequested = nullptr;
BufferCompleted gCompleted = nullptr;
std::vector<std::size_t> gSizes;  // of the records in the buffer being delivered
bool gIsDone = false;

// Fills one buffer; returns the number of the next record.
std::size_t handOut(std::size_t from) {
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0;
  std::size_t most = 0;
  gRequested(&buffer, &size, &most);
  gSizes.clear();
  std::size_t used = 0;
  std::size_t at = from;
  for (; at < recording().records.size(); ++at) {
    const auto& record = recording().records[at].record;
    if (used + record.size() > size)
      break;
    std::memcpy(buffer + used, record.data(), record.size());
    used += record.size();
    gSizes.push_back(record.size());
  }
  if (at == from)
    fail("a buffer has no room for a record");
  gCompleted(nullptr, 0, buffer, size, used);
  return at;
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default"))) Status

EXPORT cuptiGetVersion(std::uint32_t* version) {
  *version = recording().version;
  return Status::Success;
}
EXPORT cuptiGetResultString(Status, const char** text) {
  *text = "an answer of the replay";
  return Status::Success;
}
EXPORT cuptiGetCallbackName(Domain domain, std::uint32_t cbid, const char** name) {
  const auto found = recording().callbacks.find({static_cast<std::uint32_t>(domain), cbid});
  if (found == recording().callbacks.end())
    return Status::Unknown;
  *name = found->second.c_str();
  return Status::Success;
}
EXPORT cuptiActivityRegisterCallbacks(BufferRequested requested, BufferCompleted completed) {
  gRequested = requested;
  gCompleted = completed;
  return Status::Success;
}
EXPORT cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, Record** record) {
  std::uint8_t* at = buffer;
  auto size = gSizes.begin();
  if (*record != nullptr) {
    for (; at != reinterpret_cast<std::uint8_t*>(*record); ++size)
      at += *size;
    at += *size;
  }
  if (at >= buffer + valid)
    return Status::MaxLimitReached;
  *record = reinterpret_cast<Record*>(at);
  return Status::Success;
}
EXPORT cuptiActivityFlushAll(std::uint32_t) {
  if (gIsDone || gRequested == nullptr)
    return Status::Success;
  gIsDone = true;
  for (std::size_t at = 0; at < recording().records.size();)
    at = handOut(at);
  return Status::Success;
}
EXPORT cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
  *dropped = 0;
  return Status::Success;
}

#define YES(name, ...)       \
  EXPORT name(__VA_ARGS__) { \
    return Status::Success;  \
  }
YES(cuptiSubscribe, Subscriber*, Callback, void*)
YES(cuptiUnsubscribe, Subscriber)
YES(cuptiEnableCallback, std::uint32_t, Subscriber, Domain, std::uint32_t)
YES(cuptiEnableDomain, std::uint32_t, Subscriber, Domain)
YES(cuptiActivityRegisterTimestampCallback, Timestamp)
YES(cuptiSetThreadIdType, std::uint32_t)
YES(cuptiActivityEnable, Kind)
YES(cuptiActivityDisable, Kind)
YES(cuptiActivityEnableRuntimeApi, std::uint32_t, std::uint8_t)
YES(cuptiActivityEnableDriverApi, std::uint32_t, std::uint8_t)
YES(cuptiActivityFlushPeriod, std::uint32_t)
