// The processes of the job, and each of their threads: processor time, time in the run queue,
// memory, faults, bytes from and to disks. The recorder says which processes there are; one that
// has gone, or is another than it was, is left alone.
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

  // Of two images of one process the later holds.
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
    bool hasFaulted = true;          // since the round before: which thread did is to be asked
    std::optional<std::size_t> cpu;  // the first that is defined
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
