#include "recorder/calibrate/cost_program.h"

#include "plugins/api/sonde.h"
#include "recorder/calibrate/cost_batches.h"

#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <vector>

namespace sonde::recorder {
namespace {

using cost::nsOf;
using cost::nsOfBatch;
using cost::print;

// This many batches of 40-byte records fill the 1 MiB by which the spool grows
// (collector/core/platform/chunk.h).
constexpr int kGrowthBatches = 175;
constexpr long kGrowthFaults = 32;  // this many page faults at once: the spool has grown
constexpr std::size_t kBlockBytes = 100'000;
constexpr std::size_t kOpenBatches = 8;  // few, because opening a file takes long

long pageFaults() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

// The average cost per call of the spool's growth. nsOf() ignores the batches in which the spool
// grows; these take most of the time.
template <typename Body>
double nsOfGrowth(Body body) {
  std::vector<double> usual;
  std::vector<double> growing;
  for (int batch = 0; batch < kGrowthBatches; ++batch) {
    const long faults = pageFaults();
    const double ns = nsOfBatch(body);
    (pageFaults() - faults < kGrowthFaults ? usual : growing).push_back(ns);
  }
  if (usual.empty())
    return 0;
  std::sort(usual.begin(), usual.end());
  double more = 0;
  for (const double ns : growing)
    more += ns - usual[usual.size() / 2];
  return more / kGrowthBatches;
}

template <typename Body>
void measure(const char* probe, const char* api, int events, Body body) {
  print(probe, api, nsOf(body) / events);
}

void keep(void* value) {
  asm volatile("" : : "r"(value) : "memory");
}

template <typename Body>
void measureAnnotation(const char* probe, const char* api, Body body) {
  print(probe, api, nsOf(body) + nsOfGrowth(body));
}

// The scope comes last, because a spool starts with less than 1 MiB.
void measureAnnotations() {
  measureAnnotation("annotation", "mark", [] { sonde_mark("cost"); });
  measureAnnotation("annotation", "scalar", [] { sonde_scalar("cost", 1); });
  measureAnnotation("nvtx", "scope", [] {
    nvtxRangePushA("cost");
    nvtxRangePop();
  });
  measureAnnotation("annotation", "scope", [] { sonde_end(SONDE_BEGIN("cost")); });
}

// Sends a byte and receives it: two calls.
void measureTransfers() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
    return;
  measure("net", "transfer", 2, [&] {
    char byte = 0;
    if (write(ends[0], &byte, 1) != 1 || read(ends[1], &byte, 1) != 1)
      std::exit(1);
  });
  close(ends[0]);
  close(ends[1]);
}

int openFile() {
  return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

void readFile(int file) {
  char bytes[64];
  if (pread(file, bytes, sizeof bytes, 0) < 0)
    std::exit(1);
}

// An opened file is also read and closed. The first of these calls that needs to know the kind of
// file finds it out.
void measureFiles() {
  const int file = openFile();
  if (file < 0)
    return;
  const double call = nsOf([&] { readFile(file); });
  close(file);
  print("io", "call", call);
  const double all = nsOf<kOpenBatches>([] {
    const int opened = openFile();
    readFile(opened);
    close(opened);
  });
  print("io", "open", all - call);
}

void measureMemory() {
  measure("memory", "allocation", 1, [] {
    void* const block = std::malloc(kBlockBytes);
    keep(block);
    std::free(block);
  });
}

}  // namespace

// Measures within an iteration, because probes are off only in iterations.
void printCosts() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const sonde_scope iteration = sonde_begin(SONDE_ITERATION, "cost");
  measureAnnotations();
  measureTransfers();
  measureFiles();
  measureMemory();
  sonde_end(iteration);
}

}  // namespace sonde::recorder
