#include "recorder/system/machine_sources.h"

#include <fmt/format.h>
#include <unistd.h>

#include <initializer_list>

namespace sonde::recorder::system {
namespace {

constexpr double kSectorBytes = 512;  // whatever the disk's own sector size is
constexpr double kKibibyte = 1024;

Metric gauge(std::string name, std::string unit) {
  return {.name = std::move(name), .unit = std::move(unit)};
}

Metric total(std::string name, std::string unit) {
  return {.name = std::move(name), .unit = std::move(unit), .isTotal = true};
}

}  // namespace

const CpuSource::Cpu& CpuSource::cpuOf(std::string_view name, Readings& into) {
  if (const auto found = cpus_.find(name); found != cpus_.end())
    return found->second;
  const std::string own =
      name == "cpu" ? std::string("cpu") : fmt::format("cpu {}", name.substr(3));
  const Cpu cpu = {into.define(total(own + " busy", "ns")),
                   into.define(total(own + " io wait", "ns")),
                   into.define(total(own + " stolen", "ns"))};
  return cpus_.emplace(name, cpu).first->second;
}

// cpuN user nice system idle iowait irq softirq steal guest guest_nice; a guest's time is in user.
void CpuSource::sample(Readings& into) {
  Words lines(file_.read(), '\n');
  for (std::string_view line = lines.next(); !line.empty(); line = lines.next()) {
    Words words(line);
    const std::string_view name = words.next();
    if (name.starts_with("cpu")) {
      const std::uint64_t own = words.number() + words.number() + words.number();
      words.skip(1);
      const std::uint64_t ioWait = words.number();
      const std::uint64_t interrupts = words.number() + words.number();
      const Cpu& cpu = cpuOf(name, into);
      into.add(cpu.busy, static_cast<double>(own + interrupts) * nsPerClockTick());
      into.add(cpu.ioWait, static_cast<double>(ioWait) * nsPerClockTick());
      into.add(cpu.stolen, static_cast<double>(words.number()) * nsPerClockTick());
      continue;
    }
    const bool isSwitches = name == "ctxt";
    if (!isSwitches && name != "procs_running" && name != "procs_blocked")
      continue;
    const auto [at, isNew] = others_.try_emplace(std::string(name));
    if (isNew)
      at->second = into.define(isSwitches                ? total("context switches", "1")
                               : name == "procs_running" ? gauge("runnable threads", "1")
                                                         : gauge("threads waiting for disks", "1"));
    into.add(at->second, static_cast<double>(words.number()));
  }
}

void MemorySource::sample(Readings& into) {
  const std::string_view text = file_.read();
  const auto bytesOf = [&](std::string_view key) {
    return static_cast<double>(numberOf(text, key).value_or(0)) * kKibibyte;
  };
  if (text.empty())
    return;
  if (!available_) {
    available_ = into.define(gauge("memory available", "bytes"));
    dirty_ = into.define(gauge("memory to be written to disks", "bytes"));
    swapped_ = into.define(gauge("swap used", "bytes"));
  }
  into.add(*available_, bytesOf("MemAvailable:"));
  into.add(dirty_, bytesOf("Dirty:") + bytesOf("Writeback:"));
  into.add(swapped_, bytesOf("SwapTotal:") - bytesOf("SwapFree:"));
}

PressureSource::PressureSource(const Roots& roots) {
  for (const char* name : {"cpu", "memory", "io"})
    resources_.push_back({name, KernelFile(roots.proc / "pressure" / name), {}});
}

// some avg10=0.00 avg60=0.00 avg300=0.00 total=12345, in microseconds
void PressureSource::sample(Readings& into) {
  for (Resource& resource : resources_) {
    Words lines(resource.file.read(), '\n');
    for (std::string_view line = lines.next(); !line.empty(); line = lines.next()) {
      const std::size_t at = line.find("total=");
      if (at == std::string_view::npos)
        continue;
      const std::string_view who = Words(line).next();
      auto found = resource.metrics.find(who);
      if (found == resource.metrics.end())
        found = resource.metrics
                    .emplace(
                        who,
                        into.define(total(fmt::format("pressure {} {}", resource.name, who), "ns")))
                    .first;
      into.add(found->second, static_cast<double>(numberIn(line.substr(at + 6)).value_or(0)) * 1e3);
    }
  }
}

DiskSource::DiskSource(const Roots& roots)
    : blocks_(roots.sys / "block"), file_(roots.proc / "diskstats") {}

// Partitions, and disks backed by files or memory, would count the same bytes twice.
const DiskSource::Disk& DiskSource::diskOf(std::string_view name, Readings& into) {
  if (const auto found = disks_.find(name); found != disks_.end())
    return found->second;
  std::error_code ignored;
  Disk disk;
  disk.isWhole = std::filesystem::exists(blocks_ / name / "device", ignored);
  if (disk.isWhole) {
    disk.read = into.define(total(fmt::format("disk {} read", name), "bytes"));
    disk.written = into.define(total(fmt::format("disk {} written", name), "bytes"));
    disk.busy = into.define(total(fmt::format("disk {} busy", name), "ns"));
  }
  return disks_.emplace(name, disk).first->second;
}

// major minor name, reads: completed merged sectors ms, writes: the same, in flight, ms busy, …
void DiskSource::sample(Readings& into) {
  Words lines(file_.read(), '\n');
  for (std::string_view line = lines.next(); !line.empty(); line = lines.next()) {
    Words words(line);
    const Disk& disk = diskOf(words.skip(2).next(), into);
    if (!disk.isWhole)
      continue;
    into.add(disk.read, static_cast<double>(words.skip(2).number()) * kSectorBytes);
    into.add(disk.written, static_cast<double>(words.skip(3).number()) * kSectorBytes);
    into.add(disk.busy, static_cast<double>(words.skip(2).number()) * 1e6);
  }
}

NetworkSource::Interface NetworkSource::define(std::string_view name, Readings& into) {
  const auto metric = [&](const char* what, const char* unit) {
    return into.define(total(fmt::format("network {} {}", name, what), unit));
  };
  return {metric("received", "bytes"), metric("sent", "bytes"), metric("dropped", "packets")};
}

// name: received bytes packets errors drops fifo frame compressed multicast, sent the same
void NetworkSource::sample(Readings& into) {
  Words lines(file_.read(), '\n');
  for (std::string_view line = lines.next(); !line.empty(); line = lines.next()) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos)
      continue;
    const std::string_view name = Words(line.substr(0, colon)).next();
    Words words(line.substr(colon + 1));
    const std::uint64_t received = words.number();
    const std::uint64_t lost = words.skip(2).number();
    const std::uint64_t sent = words.skip(4).number();
    auto found = interfaces_.find(name);
    if (found == interfaces_.end()) {
      if (received == 0 && sent == 0)  // most interfaces of a machine are never used
        continue;
      found = interfaces_.emplace(name, define(name, into)).first;
    }
    into.add(found->second.received, static_cast<double>(received));
    into.add(found->second.sent, static_cast<double>(sent));
    into.add(found->second.dropped, static_cast<double>(lost + words.skip(2).number()));
  }
}

}  // namespace sonde::recorder::system
