#include "recorder/system/cgroup_source.h"

#include "base/file_place.h"

#include <string>
#include <string_view>
#include <utility>

namespace sonde::recorder::system {
namespace {

namespace fs = std::filesystem;

// Version 1 expresses "no limit" as the largest number of whole pages.
constexpr double kNoLimitBytes = 1e18;

// The group's path in /proc/self/cgroup: "ID:CONTROLLERS:PATH". In version 2, CONTROLLERS is empty.
std::optional<std::string> pathOf(const Roots& roots, std::string_view controller) {
  KernelFile file(roots.proc / "self/cgroup");
  Words lines(file.read(), '\n');
  for (std::string_view line = lines.next(); !line.empty(); line = lines.next()) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos)
      continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    Words names(controllers, ',');
    std::string_view name = names.next();
    while (!name.empty() && name != controller)
      name = names.next();
    if (controller.empty() ? controllers.empty() : name == controller)
      return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

bool isLimit(const std::string& text) {
  return numberIn(text).has_value() && static_cast<double>(*numberIn(text)) < kNoLimitBytes;
}

// The group's folder, or that of the innermost enclosing group in which `file` sets a limit. Inside
// a cgroup namespace the mount shows the group itself as the root, whatever its path is.
fs::path folderOf(const fs::path& mount, const std::string& path, const char* file) {
  const fs::path own = mount / fs::path(path).relative_path();
  fs::path innermost = isThere(own / file) ? own : mount;
  for (fs::path at = innermost;; at = at.parent_path()) {
    if (isLimit(firstLineOf(at / file)))
      return at;
    if (at == mount || at == at.parent_path())
      return innermost;
  }
}

}  // namespace

CgroupSource::CgroupSource(const Roots& roots) {
  const fs::path mount = roots.sys / "fs/cgroup";
  if (const auto path = pathOf(roots, "memory")) {
    const fs::path folder = folderOf(mount / "memory", *path, "memory.limit_in_bytes");
    memory_ = KernelFile(folder / "memory.usage_in_bytes");
    memoryLimit_ = KernelFile(folder / "memory.limit_in_bytes");
    memoryEvents_ = KernelFile(folder / "memory.oom_control");
  }
  if (const auto path = pathOf(roots, "cpu")) {
    const fs::path folder = folderOf(mount / "cpu", *path, "cpu.cfs_quota_us");
    inMicroseconds_ = false;
    cpuStat_ = KernelFile(folder / "cpu.stat");
    cpuQuota_ = KernelFile(folder / "cpu.cfs_quota_us");
    cpuPeriod_ = KernelFile(folder / "cpu.cfs_period_us");
  }
  const auto path = pathOf(roots, "");
  if (!path || !isThere(mount / "cgroup.controllers"))
    return;
  const fs::path memory = folderOf(mount, *path, "memory.max");
  memory_ = KernelFile(memory / "memory.current");
  memoryLimit_ = KernelFile(memory / "memory.max");
  memoryEvents_ = KernelFile(memory / "memory.events");
  const fs::path cpu = folderOf(mount, *path, "cpu.max");
  cpuStat_ = KernelFile(cpu / "cpu.stat");
  cpuQuota_ = KernelFile(cpu / "cpu.max");
}

void CgroupSource::set(std::optional<std::size_t>& metric,
                       const Metric& is,
                       double value,
                       Readings& into) {
  if (!metric)
    metric = into.define(is);
  into.add(*metric, value);
}

void CgroupSource::sampleMemory(Readings& into) {
  if (const auto used = numberIn(memory_.read()))
    set(usedMetric_, {.name = "cgroup memory", .unit = "bytes"}, static_cast<double>(*used), into);
  if (const auto limit = numberIn(memoryLimit_.read());
      limit && static_cast<double>(*limit) < kNoLimitBytes)
    set(limitMetric_,
        {.name = "cgroup memory limit", .unit = "bytes"},
        static_cast<double>(*limit),
        into);
  if (const auto kills = numberOf(memoryEvents_.read(), "oom_kill"))
    set(killsMetric_,
        {.name = "cgroup out-of-memory kills", .unit = "1", .isTotal = true},
        static_cast<double>(*kills),
        into);
}

void CgroupSource::sampleCpu(Readings& into) {
  const std::string_view stat = cpuStat_.read();
  const auto periods = numberOf(stat, "nr_throttled");
  const auto throttled = numberOf(stat, inMicroseconds_ ? "throttled_usec" : "throttled_time");
  if (periods)
    set(periodsMetric_,
        {.name = "cgroup throttled periods", .unit = "1", .isTotal = true},
        static_cast<double>(*periods),
        into);
  if (throttled)
    set(throttledMetric_,
        {.name = "cgroup throttled", .unit = "ns", .isTotal = true},
        static_cast<double>(*throttled) * (inMicroseconds_ ? 1e3 : 1),
        into);
  Words quota(cpuQuota_.read());
  const auto most = numberIn(quota.next());  // "max" or -1: no limit
  const std::uint64_t period = cpuPeriod_.isThere() ? 0 : quota.number();
  const std::uint64_t length =
      cpuPeriod_.isThere() ? numberIn(cpuPeriod_.read()).value_or(0) : period;
  if (most && length > 0)
    set(coresMetric_,
        {.name = "cgroup cpu limit", .unit = "cores"},
        static_cast<double>(*most) / static_cast<double>(length),
        into);
}

void CgroupSource::sample(Readings& into) {
  sampleMemory(into);
  sampleCpu(into);
}

}  // namespace sonde::recorder::system
