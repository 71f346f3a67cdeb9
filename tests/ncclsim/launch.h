// The stand-in's work for tasks after a group has ended: kernels, and reports to a profiler plugin.
// Any thread.
#pragma once

#include "tests/ncclsim/ncclsim.h"
#include "tests/preload/nccl_host.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace ncclsim {

struct Task {
  ncclComm_t comm = nullptr;
  sonde::test::HostCall call;
  bool peerToPeer = false;
  void* stream = nullptr;
  bool captured = false;
};
using Tasks = std::vector<Task>;

}  // namespace ncclsim

struct ncclComm {
  std::uint64_t hash = 0;
  int size = 0;
  int rank = 0;
  int splits = 0;
  bool kept = false;
  sonde::test::HostRank plugin;
  std::atomic<std::uint64_t> numbers[16] = {};  // by function
  std::mutex mutex;                             // guards everything below
  std::vector<ncclsim::Tasks> captured;
};

namespace ncclsim {

// The plugin in NCCL_PROFILER_PLUGIN, as NCCL reads it; nullptr: none.
sonde::test::NcclHost* plugin();
bool isSet(const char* name);

bool isCaptured(void* stream);
void launch(const Tasks& tasks);
// In a thread: tasks of a nonblocking communicator run one after the other.
void launchInTurn(const Tasks& tasks);
void tellOfCaptured(ncclComm& comm);

// Runs `work` in a thread that settle() waits for.
void inThread(void (*work)(const Tasks&), Tasks tasks);
void settle();

}  // namespace ncclsim
