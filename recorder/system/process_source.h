// The processes of the job, and each of their threads: processor time, time in the run queue,
// memory, faults, disk bytes. The recorder provides the list of processes. A process that is gone,
// or whose pid was reused, is skipped.
#pragma once

#include "recorder/spool/image_id.h"
#include "recorder/system/kernel_file.h"
#include "recorder/system/source.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace sonde::recorder::system {

class ProcessSource final : public Source {
 public:
  explicit ProcessSource(Roots roots) : roots_(std::move(roots)) {}
  void sample(Readings& into) override;

  // If two images of one process are added, the later one counts.
  void add(const ImageId& image);

 private:
  struct Thread {
    KernelFile schedstat;
    KernelFile stat;
    std::size_t cpu = 0;
    std::size_t queued = 0;
    std::size_t majorFaults = 0;
    std::uint64_t majorFaultsSoFar = 0;
    bool isSeen = false;  // in this round
  };
  struct Process {
    ImageId image;
    KernelFile stat;
    KernelFile io;
    std::filesystem::path folder;
    std::map<std::int32_t, Thread> threads;  // by tid
    std::uint64_t threadCount = 0;
    std::uint64_t majorFaultsSoFar = 0;
    bool hasFaulted = true;  // since the previous round; if so, each thread's faults are read
    std::optional<std::size_t> cpu;  // the first one defined
    std::size_t resident = 0;
    std::size_t minorFaults = 0;
    std::size_t majorFaults = 0;
    std::size_t threadsNow = 0;
    std::optional<std::size_t> diskRead;
    std::size_t diskWritten = 0;
  };
  static bool sampleStat(Process& process, Readings& into);
  static void sampleIo(Process& process, Readings& into);
  static void sampleThreads(Process& process, Readings& into);
  static bool sampleThread(Thread& thread, bool hasFaulted, Readings& into);
  static void listThreads(Process& process, Readings& into);
  static void closeThread(const Thread& thread, Readings& into);
  static void closeProcess(Process& process, Readings& into);

  Roots roots_;
  std::vector<ImageId> fresh_;
  std::map<std::int32_t, Process> processes_;  // by pid
};

}  // namespace sonde::recorder::system
