#include "recorder/system/process_source.h"

#include <dirent.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

namespace sonde::recorder::system {
namespace {

namespace fs = std::filesystem;

struct Stat {
  std::uint64_t minorFaults = 0;
  std::uint64_t majorFaults = 0;
  std::uint64_t cpuTicks = 0;
  std::uint64_t threads = 0;
  std::uint64_t startTime = 0;
  std::uint64_t residentPages = 0;
};

// Unset if the process is gone. The program's name, in brackets, may contain anything.
std::optional<Stat> parseStat(std::string_view text) {
  const std::size_t name = text.rfind(')');
  if (name == std::string_view::npos)
    return std::nullopt;
  Words words(text.substr(name + 1));
  const std::string_view state = words.next();
  Stat stat;
  stat.minorFaults = words.skip(6).number();
  stat.majorFaults = words.skip(1).number();
  stat.cpuTicks = words.skip(1).number();
  stat.cpuTicks += words.number();
  stat.threads = words.skip(4).number();
  stat.startTime = words.skip(1).number();
  stat.residentPages = words.skip(1).number();
  // A first thread that has ended is a zombie even while others continue.
  if (state == "X" || (state == "Z" && stat.threads <= 1))
    return std::nullopt;
  return stat;
}

Metric metricOf(const ImageId& image, const char* name, const char* unit, bool isTotal) {
  return {.name = name,
          .unit = unit,
          .isTotal = isTotal,
          .pid = image.pid,
          .startTime = image.startTime,
          .execCount = image.execCount};
}

}  // namespace

void ProcessSource::add(const ImageId& image) {
  fresh_.push_back(image);
}

void ProcessSource::sample(Readings& into) {
  for (const ImageId& image : std::exchange(fresh_, {})) {
    const auto known = processes_.find(image.pid);
    if (known != processes_.end() && known->second.image >= image)
      continue;
    if (known != processes_.end()) {
      closeProcess(known->second, into);
      processes_.erase(known);
    }
    Process& process = processes_[image.pid];
    process.image = image;
    process.folder = roots_.proc / std::to_string(image.pid);
    process.stat = KernelFile(process.folder / "stat");
    process.io = KernelFile(process.folder / "io");
  }
  for (auto at = processes_.begin(); at != processes_.end();) {
    Process& process = at->second;
    if (sampleStat(process, into)) {
      sampleIo(process, into);
      sampleThreads(process, into);
      ++at;
    } else {
      closeProcess(process, into);
      at = processes_.erase(at);
    }
  }
}

bool ProcessSource::sampleStat(Process& process, Readings& into) {
  static const auto kPageBytes = static_cast<double>(::sysconf(_SC_PAGESIZE));
  const auto stat = parseStat(process.stat.read());
  if (!stat && process.stat.isPassing())
    return true;
  if (!stat || stat->startTime != process.image.startTime)
    return false;
  if (!process.cpu) {
    process.cpu = into.define(metricOf(process.image, "cpu time", "ns", true));
    process.resident = into.define(metricOf(process.image, "resident memory", "bytes", false));
    process.minorFaults = into.define(metricOf(process.image, "minor page faults", "1", true));
    process.majorFaults = into.define(metricOf(process.image, "major page faults", "1", true));
    process.threadsNow = into.define(metricOf(process.image, "threads", "1", false));
  }
  into.add(*process.cpu, static_cast<double>(stat->cpuTicks) * nsPerClockTick());
  into.add(process.resident, static_cast<double>(stat->residentPages) * kPageBytes);
  into.add(process.minorFaults, static_cast<double>(stat->minorFaults));
  into.add(process.majorFaults, static_cast<double>(stat->majorFaults));
  into.add(process.threadsNow, static_cast<double>(stat->threads));
  process.hasFaulted =
      std::exchange(process.majorFaultsSoFar, stat->majorFaults) != stat->majorFaults;
  if (std::exchange(process.threadCount, stat->threads) != stat->threads)
    listThreads(process, into);
  return true;
}

// Not available for another user's process.
void ProcessSource::sampleIo(Process& process, Readings& into) {
  const std::string_view text = process.io.read();
  const auto read = numberOf(text, "read_bytes:");
  const auto written = numberOf(text, "write_bytes:");
  if (!read || !written)
    return;
  if (!process.diskRead) {
    process.diskRead = into.define(metricOf(process.image, "disk read", "bytes", true));
    process.diskWritten = into.define(metricOf(process.image, "disk written", "bytes", true));
  }
  into.add(*process.diskRead, static_cast<double>(*read));
  into.add(process.diskWritten, static_cast<double>(*written));
}

void ProcessSource::sampleThreads(Process& process, Readings& into) {
  bool isAnyGone = false;
  for (auto& [tid, thread] : process.threads)
    isAnyGone = !sampleThread(thread, process.hasFaulted, into) || isAnyGone;
  if (isAnyGone)
    listThreads(process, into);
}

// "cpu-ns run-queue-ns slices"; false if the thread is gone. Major faults are rare, so a thread's
// own are read only if the process has had some.
bool ProcessSource::sampleThread(Thread& thread, bool hasFaulted, Readings& into) {
  Words words(thread.schedstat.read());
  const auto cpu = numberIn(words.next());
  const auto queued = numberIn(words.next());
  if (!cpu || !queued)
    return thread.schedstat.isPassing();
  into.add(thread.cpu, static_cast<double>(*cpu));
  into.add(thread.queued, static_cast<double>(*queued));
  if (const auto stat = hasFaulted ? parseStat(thread.stat.read()) : std::nullopt)
    thread.majorFaultsSoFar = stat->majorFaults;
  into.add(thread.majorFaults, static_cast<double>(thread.majorFaultsSoFar));
  return true;
}

void ProcessSource::listThreads(Process& process, Readings& into) {
  for (auto& [tid, thread] : process.threads)
    thread.isSeen = false;
  const fs::path tasks = process.folder / "task";
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(tasks.c_str()), ::closedir);
  while (const dirent* const entry = folder ? ::readdir(folder.get()) : nullptr) {
    const auto number = numberIn(entry->d_name);
    if (!number)
      continue;
    const auto tid = static_cast<std::int32_t>(*number);
    const auto [at, isNew] = process.threads.try_emplace(tid);
    Thread& thread = at->second;
    thread.isSeen = true;
    if (!isNew)
      continue;
    Metric metric = metricOf(process.image, "cpu time", "ns", true);
    metric.tid = tid;
    thread.cpu = into.define(metric);
    metric.name = "run queue time";
    thread.queued = into.define(metric);
    metric.name = "major page faults";
    metric.unit = "1";
    thread.majorFaults = into.define(metric);
    thread.schedstat = KernelFile(tasks / entry->d_name / "schedstat");
    thread.stat = KernelFile(tasks / entry->d_name / "stat");
    sampleThread(thread, true, into);
  }
  std::erase_if(process.threads, [&](const auto& each) {
    if (!each.second.isSeen)
      closeThread(each.second, into);
    return !each.second.isSeen;
  });
}

void ProcessSource::closeThread(const Thread& thread, Readings& into) {
  into.close(thread.cpu);
  into.close(thread.queued);
  into.close(thread.majorFaults);
}

void ProcessSource::closeProcess(Process& process, Readings& into) {
  for (const auto& [tid, thread] : process.threads)
    closeThread(thread, into);
  if (process.cpu) {
    for (const std::size_t metric : {*process.cpu,
                                     process.resident,
                                     process.minorFaults,
                                     process.majorFaults,
                                     process.threadsNow})
      into.close(metric);
  }
  if (process.diskRead) {
    into.close(*process.diskRead);
    into.close(process.diskWritten);
  }
}

}  // namespace sonde::recorder::system
