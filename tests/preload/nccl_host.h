// For programs that stand in for NCCL: uses a profiler plugin as NCCL does. Finds the plugin's
// symbol in the process as NCCL does for STATIC_PLUGIN, and fills in each version's descriptors as
// NCCL's own adapters (src/plugin/profiler/profiler_v*.cc) do.
#pragma once

#include <nccl/err.h>
#include <nccl/profiler.h>

#include <cstdint>
#include <memory>

namespace sonde::test {

struct HostCall {
  const char* function = "AllReduce";
  std::uint64_t number = 0;
  std::size_t count = 1024;
  const char* datatype = "ncclFloat32";
  int root = 0;
  int peer = 0;
  const char* algorithm = "RING";
  const char* protocol = "SIMPLE";
  std::uint8_t channels = 2;
  void* parent = nullptr;  // the API's call from version 5 on, before that a group's
  const void* send = nullptr;
  const void* receive = nullptr;  // a send or receive has only this buffer
};

struct HostProxyOp {
  pid_t pid = 0;
  int peer = 0;
  std::uint8_t channel = 0;
  int steps = 1;
  int chunkBytes = 4096;
  bool send = false;
  void* parent = nullptr;
};

// One rank's communicator.
struct HostRank {
  void* context = nullptr;
  int mask = 0;
  std::uint64_t hash = 0;
  int size = 0;
  int rank = 0;
};

class NcclHost {
 public:
  // nullptr: neither this process nor `library` has the symbol.
  static std::unique_ptr<NcclHost> open(int version, void* library = nullptr);
  virtual ~NcclHost() = default;

  virtual HostRank init(std::uint64_t hash, const char* name, int size, int rank) = 0;
  virtual void finalize(const HostRank& rank) = 0;

  // Each returns the plugin's handle, or nullptr: before version 5 there is no API event, before 3
  // no kernel channel or network event, before 6 no copy engine event.
  virtual void* api(const HostRank& rank, bool graphCaptured) = 0;
  virtual void* group(const HostRank& rank) = 0;
  virtual void* collective(const HostRank& rank, const HostCall& call) = 0;
  virtual void* peerCall(const HostRank& rank, const HostCall& call) = 0;
  virtual void* copyEngine(const HostRank& rank, const HostCall& call) = 0;
  virtual void* proxyOp(const HostRank& rank, const HostProxyOp& op) = 0;
  virtual void* proxyStep(const HostRank& rank, void* op, int step) = 0;
  virtual void* kernelChannel(const HostRank& rank, void* call, std::uint8_t channel) = 0;
  virtual void* network(const HostRank& rank, void* step, std::int64_t plugin, void* data) = 0;
  // An event with a type that no version has.
  virtual void* unknown(const HostRank& rank) = 0;

  // `bytes` is reported from version 4 on.
  virtual void state(void* handle, ncclProfilerEventState_t state, std::size_t bytes) = 0;
  virtual void stop(void* handle) = 0;
};

}  // namespace sonde::test
