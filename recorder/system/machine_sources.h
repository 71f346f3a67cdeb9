// The counters in /proc for the whole machine: processors, memory, pressure, disks and network.
// Each counts from the machine's start.
#pragma once

#include "recorder/system/kernel_file.h"
#include "recorder/system/source.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sonde::recorder::system {

// /proc/stat: the time that each processor, and all together, were busy or waiting for a disk.
class CpuSource final : public Source {
 public:
  explicit CpuSource(const Roots& roots) : file_(roots.proc / "stat") {}
  void sample(Readings& into) override;

 private:
  struct Cpu {
    std::size_t busy = 0;
    std::size_t ioWait = 0;
    std::size_t stolen = 0;
  };
  const Cpu& cpuOf(std::string_view name, Readings& into);

  KernelFile file_;
  std::map<std::string, Cpu, std::less<>> cpus_;
  std::map<std::string, std::size_t, std::less<>> others_;
};

// /proc/meminfo.
class MemorySource final : public Source {
 public:
  explicit MemorySource(const Roots& roots) : file_(roots.proc / "meminfo") {}
  void sample(Readings& into) override;

 private:
  KernelFile file_;
  std::optional<std::size_t> available_;
  std::size_t dirty_ = 0;
  std::size_t swapped_ = 0;
};

// /proc/pressure: how long some, or all, work had to wait for a processor, memory or a disk.
class PressureSource final : public Source {
 public:
  explicit PressureSource(const Roots& roots);
  void sample(Readings& into) override;

 private:
  struct Resource {
    std::string name;
    KernelFile file;
    std::map<std::string, std::size_t, std::less<>> metrics;  // by "some" and "full"
  };
  std::vector<Resource> resources_;
};

// /proc/diskstats, for whole disks.
class DiskSource final : public Source {
 public:
  explicit DiskSource(const Roots& roots);
  void sample(Readings& into) override;

 private:
  struct Disk {
    bool isWhole = false;
    std::size_t read = 0;
    std::size_t written = 0;
    std::size_t busy = 0;
  };
  const Disk& diskOf(std::string_view name, Readings& into);

  std::filesystem::path blocks_;
  KernelFile file_;
  std::map<std::string, Disk, std::less<>> disks_;
};

// /proc/net/dev: the interfaces of the recorder's network namespace.
class NetworkSource final : public Source {
 public:
  explicit NetworkSource(const Roots& roots) : file_(roots.proc / "net/dev") {}
  void sample(Readings& into) override;

 private:
  struct Interface {
    std::size_t received = 0;
    std::size_t sent = 0;
    std::size_t dropped = 0;
  };
  static Interface define(std::string_view name, Readings& into);

  KernelFile file_;
  std::map<std::string, Interface, std::less<>> interfaces_;
};

}  // namespace sonde::recorder::system
