// What the stand-in does with tasks once a group has ended: kernels, and what a profiler plugin is
// told. Any thread.
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
  std::mutex mutex;                             // of what is below
  std::vector<ncclsim::Tasks> captured;
};

namespace ncclsim {

// As NCCL reads NCCL_PROFILER_PLUGIN; nullptr: none.
sonde::test::NcclHost* plugin();
bool isSet(const char* name);

bool isCaptured(void* stream);
void launch(const Tasks& tasks);
// In a thread: those of a communicator that does not block come one after the other.
void launchInTurn(const Tasks& tasks);
void tellOfCaptured(ncclComm& comm);

// Runs it in a thread that settle() waits for.
void inThread(void (*work)(const Tasks&), Tasks tasks);
void settle();

}  // namespace ncclsim
