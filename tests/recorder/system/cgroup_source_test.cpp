#include "recorder/system/cgroup_source.h"

#include "tests/recorder/system/sources_rig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::recorder::system {
namespace {

using testing::Contains;
using testing::Key;
using testing::Not;
using Values = std::map<std::string, double>;

TEST(CgroupSource, ReadsVersion2) {
  MachineOfFiles machine;
  const std::string group = "sys/fs/cgroup/jobs/train/";
  machine.write("proc/self/cgroup", "1:net_cls:/other\n0::/jobs/train\n");
  machine.write("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
  machine.write(group + "memory.current", "1000\n");
  machine.write(group + "memory.max", "5000\n");
  machine.write(group + "memory.events", "low 0\nhigh 0\nmax 3\noom 2\noom_kill 1\n");
  machine.write(group + "cpu.stat",
                "usage_usec 9\nnr_periods 8\nnr_throttled 7\nthrottled_usec 6\n");
  machine.write(group + "cpu.max", "150000 100000\n");
  CgroupSource source(machine.roots());
  EXPECT_EQ(machine.sample(source),
            (Values{{"cgroup memory", 1000},
                    {"cgroup memory limit", 5000},
                    {"cgroup out-of-memory kills", 1},
                    {"cgroup throttled periods", 7},
                    {"cgroup throttled", 6000},
                    {"cgroup cpu limit", 1.5}}));
}

TEST(CgroupSource, TheInnermostGroupWithALimitCounts) {
  MachineOfFiles machine;
  machine.write("proc/self/cgroup", "0::/pod/container/shell\n");
  machine.write("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
  for (const char* group : {"pod", "pod/container", "pod/container/shell"}) {
    machine.write("sys/fs/cgroup/" + std::string(group) + "/memory.max",
                  group == std::string("pod/container") ? "700\n" : "max\n");
    machine.write("sys/fs/cgroup/" + std::string(group) + "/memory.current",
                  std::to_string(std::string(group).size()) + "\n");
  }
  CgroupSource source(machine.roots());
  const Values values = machine.sample(source);
  EXPECT_EQ(values.at("cgroup memory limit"), 700);
  EXPECT_EQ(values.at("cgroup memory"), 13);
}

TEST(CgroupSource, WithoutALimitTheOwnGroupCounts) {
  MachineOfFiles machine;
  machine.write("proc/self/cgroup", "0::/jobs/train\n");
  machine.write("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
  machine.write("sys/fs/cgroup/jobs/train/memory.current", "1000\n");
  machine.write("sys/fs/cgroup/jobs/train/memory.max", "max\n");
  machine.write("sys/fs/cgroup/jobs/train/cpu.max", "max 100000\n");
  CgroupSource source(machine.roots());
  EXPECT_EQ(machine.sample(source), (Values{{"cgroup memory", 1000}}));
}

// A container sees its own group as the root of the mount.
TEST(CgroupSource, AGroupThatTheMountDoesNotShowIsItsRoot) {
  MachineOfFiles machine;
  machine.write("proc/self/cgroup", "0::/kubepods/pod1/c2\n");
  machine.write("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
  machine.write("sys/fs/cgroup/memory.current", "1000\n");
  machine.write("sys/fs/cgroup/memory.max", "2000\n");
  CgroupSource source(machine.roots());
  EXPECT_EQ(machine.sample(source),
            (Values{{"cgroup memory", 1000}, {"cgroup memory limit", 2000}}));
}

TEST(CgroupSource, ReadsVersion1) {
  MachineOfFiles machine;
  machine.write("proc/self/cgroup", "4:memory:/job\n3:cpu,cpuacct:/job\n0::/\n");
  machine.write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1000\n");
  machine.write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "5000\n");
  machine.write("sys/fs/cgroup/memory/job/memory.oom_control",
                "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
  machine.write("sys/fs/cgroup/cpu/job/cpu.stat",
                "nr_periods 8\nnr_throttled 7\nthrottled_time 6\n");
  machine.write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "50000\n");
  machine.write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  CgroupSource source(machine.roots());
  EXPECT_EQ(machine.sample(source),
            (Values{{"cgroup memory", 1000},
                    {"cgroup memory limit", 5000},
                    {"cgroup out-of-memory kills", 2},
                    {"cgroup throttled periods", 7},
                    {"cgroup throttled", 6},
                    {"cgroup cpu limit", 0.5}}));
}

TEST(CgroupSource, Version1SaysNoLimitWithLargeNumbersAndMinusOne) {
  MachineOfFiles machine;
  machine.write("proc/self/cgroup", "4:memory:/job\n3:cpu:/job\n");
  machine.write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1000\n");
  machine.write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  machine.write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
  machine.write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  CgroupSource source(machine.roots());
  const Values values = machine.sample(source);
  EXPECT_THAT(values, Not(Contains(Key("cgroup memory limit"))));
  EXPECT_THAT(values, Not(Contains(Key("cgroup cpu limit"))));
}

}  // namespace
}  // namespace sonde::recorder::system
