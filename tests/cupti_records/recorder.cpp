// Recorder of CUPTI's data, named in CUDA_INJECTION64_PATH: writes it unchanged to the file
// SONDE_CUPTI_RECORDS (format.h). Needs only a libcupti that the loader finds, so it runs on any
// machine with a GPU. Enables the kinds that Sonde's CUDA probe enables; SONDE_CUPTI_NODES=1
// requests the nodes of graphs. Times are CLOCK_MONOTONIC's.
#include "collector/preload/cuda/activity/cupti_records.h"
#include "tests/cupti_records/format.h"

#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using namespace sonde::preload::cupti;
using sonde::test::EntryHeader;
using sonde::test::EntryKind;
using sonde::test::padded;

constexpr Kind kKinds[] = {Kind::Device,
                           Kind::Context,
                           Kind::Stream,
                           Kind::Runtime,
                           Kind::Driver,
                           Kind::Memcpy,
                           Kind::Memset,
                           Kind::MemcpyPeer,
                           Kind::Synchronization,
                           Kind::Memory,
                           Kind::Overhead,
                           Kind::CudaEvent,
                           Kind::Jit,
                           Kind::ConcurrentKernel};
constexpr std::size_t kBufferBytes = 1 << 20;

pthread_mutex_t gLock = PTHREAD_MUTEX_INITIALIZER;
std::FILE* gFile = nullptr;
bool gNamed[4][2048] = {};  // callbacks whose name is in the file, by domain

Status (*getNextRecord)(std::uint8_t*, std::size_t, Record**) = nullptr;
Status (*getCallbackName)(Domain, std::uint32_t, const char**) = nullptr;
Status (*getDropped)(void*, std::uint32_t, std::size_t*) = nullptr;
Status (*flushAll)(std::uint32_t) = nullptr;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "cupti_recorder: %s\n", what);
  std::exit(1);
}

void put(const void* bytes, std::uint32_t size) {
  static const char kZeros[8] = {};
  std::fwrite(bytes, 1, size, gFile);
  std::fwrite(kZeros, 1, padded(size) - size, gFile);
}

void putEntry(EntryHeader header, const char* text, const void* record) {
  header.textBytes = text == nullptr ? 0 : static_cast<std::uint32_t>(std::strlen(text));
  put(&header, sizeof header);
  put(text, header.textBytes);
  put(record, header.recordBytes);
}

const char* nameOf(const Record* record) {
  if (record->kind == Kind::ConcurrentKernel || record->kind == Kind::Kernel)
    return reinterpret_cast<const KernelRecord*>(record)->name;
  if (record->kind == Kind::Device)
    return reinterpret_cast<const DeviceRecord*>(record)->name;
  return nullptr;
}

void nameCallback(const Record* record) {
  if (record->kind != Kind::Runtime && record->kind != Kind::Driver)
    return;
  const Domain domain = record->kind == Kind::Runtime ? Domain::Runtime : Domain::Driver;
  const std::uint32_t cbid = reinterpret_cast<const ApiRecord*>(record)->cbid;
  const char* name = nullptr;
  bool& isNamed = gNamed[static_cast<int>(domain)][cbid % 2048];
  if (isNamed || getCallbackName(domain, cbid, &name) != Status::Success)
    return;
  isNamed = true;
  putEntry(
      {EntryKind::CallbackName, static_cast<std::uint32_t>(domain), cbid, 0, 0, 0}, name, nullptr);
}

void putRecord(const Record* record, const std::uint8_t* end) {
  nameCallback(record);
  const auto size = static_cast<std::uint32_t>(end - reinterpret_cast<const std::uint8_t*>(record));
  putEntry({EntryKind::Record, 0, 0, 0, size, 0}, nameOf(record), record);
}

void requestBuffer(std::uint8_t** buffer, std::size_t* size, std::size_t* maxRecords) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = kBufferBytes;
  *maxRecords = 0;
}

void completeBuffer(
    void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  pthread_mutex_lock(&gLock);
  Record* before = nullptr;
  Record* record = nullptr;
  while (getNextRecord(buffer, valid, &record) == Status::Success) {
    if (before != nullptr)
      putRecord(before, reinterpret_cast<std::uint8_t*>(record));
    before = record;
  }
  if (before != nullptr)
    putRecord(before, buffer + valid);
  std::size_t dropped = 0;
  if (getDropped(context, stream, &dropped) == Status::Success && dropped > 0)
    putEntry(
        {EntryKind::Dropped, 0, static_cast<std::uint32_t>(dropped), 0, 0, 0}, nullptr, nullptr);
  pthread_mutex_unlock(&gLock);
  std::free(buffer);
}

std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

void finish() {
  flushAll(kFlushForced);
  std::fclose(gFile);
}

template <typename Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr)
    fail(name);
}

std::uint32_t driverVersion() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  int (*version)(int*) = nullptr;
  int number = 0;
  find(driver, "cuDriverGetVersion", version);
  version(&number);
  return static_cast<std::uint32_t>(number);
}

// The newest version that the driver can serve.
void* openCupti(std::uint32_t driver) {
  for (std::uint32_t major = driver / 1000; major >= 12; --major) {
    char name[32];
    std::snprintf(name, sizeof name, "libcupti.so.%u", major);
    if (void* const library = dlopen(name, RTLD_NOW); library != nullptr)
      return library;
  }
  fail("there is no libcupti: put its folder into LD_LIBRARY_PATH");
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  const std::uint32_t driver = driverVersion();
  void* const library = openCupti(driver);
  Status (*getVersion)(std::uint32_t*) = nullptr;
  Status (*enable)(Kind) = nullptr;
  Status (*registerCallbacks)(BufferRequested, BufferCompleted) = nullptr;
  Status (*registerTimestamp)(Timestamp) = nullptr;
  Status (*setThreadIds)(std::uint32_t) = nullptr;
  find(library, "cuptiGetVersion", getVersion);
  find(library, "cuptiActivityEnable", enable);
  find(library, "cuptiActivityRegisterCallbacks", registerCallbacks);
  find(library, "cuptiActivityRegisterTimestampCallback", registerTimestamp);
  find(library, "cuptiSetThreadIdType", setThreadIds);
  find(library, "cuptiActivityGetNextRecord", getNextRecord);
  find(library, "cuptiActivityGetNumDroppedRecords", getDropped);
  find(library, "cuptiGetCallbackName", getCallbackName);
  find(library, "cuptiActivityFlushAll", flushAll);
  const char* const path = std::getenv("SONDE_CUPTI_RECORDS");
  gFile = path == nullptr ? nullptr : std::fopen(path, "wbe");
  if (gFile == nullptr)
    fail("SONDE_CUPTI_RECORDS names no file that can be written");
  sonde::test::FileHeader header{};
  std::memcpy(header.magic, sonde::test::kRecordsMagic, sizeof header.magic);
  getVersion(&header.cuptiVersion);
  header.driverVersion = driver;
  put(&header, sizeof header);
  setThreadIds(kSystemThreadIds);
  registerTimestamp(now);
  registerCallbacks(requestBuffer, completeBuffer);
  for (const Kind kind : kKinds) {
    if (enable(kind) != Status::Success && kind == Kind::ConcurrentKernel)
      fail("kernels cannot be recorded: is there a driver, and may this user profile?");
  }
  if (std::getenv("SONDE_CUPTI_NODES") == nullptr)
    enable(Kind::GraphTrace);
  std::atexit(finish);
  return 1;
}
