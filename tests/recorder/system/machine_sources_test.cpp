#include "recorder/system/machine_sources.h"

#include "recorder/system/energy_source.h"
#include "recorder/system/infiniband_source.h"
#include "tests/recorder/system/sources_rig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::recorder::system {
namespace {

using testing::Contains;
using testing::Key;
using testing::Not;
using testing::Pair;
using Values = std::map<std::string, double>;

constexpr double kTickNs = 1e7;  // of the 100 Hz clock that /proc counts in

TEST(CpuSource, CountsTheTimeThatEachProcessorWasBusy) {
  MachineOfFiles machine;
  machine.write("proc/stat",
                "cpu  11 22 33 1000 55 6 7 8 9 1\n"
                "cpu0 1 2 3 500 5 6 7 8 9 1\n"
                "cpu17 10 20 30 500 50 0 0 0 0 0\n"
                "intr 1 2 3\nctxt 4711\nbtime 1\nprocesses 9\nprocs_running 3\nprocs_blocked 1\n");
  CpuSource source(machine.roots());
  const Values values = machine.sample(source);
  EXPECT_EQ(values.at("cpu busy"), (11 + 22 + 33 + 6 + 7) * kTickNs);
  EXPECT_EQ(values.at("cpu io wait"), 55 * kTickNs);
  EXPECT_EQ(values.at("cpu stolen"), 8 * kTickNs);
  EXPECT_EQ(values.at("cpu 0 busy"), (1 + 2 + 3 + 6 + 7) * kTickNs);
  EXPECT_EQ(values.at("cpu 17 busy"), 60 * kTickNs);
  EXPECT_EQ(values.at("cpu 17 io wait"), 50 * kTickNs);
  EXPECT_EQ(values.at("context switches"), 4711);
  EXPECT_EQ(values.at("runnable threads"), 3);
  EXPECT_EQ(values.at("threads waiting for disks"), 1);
}

TEST(CpuSource, AProcessorThatComesLaterHasACounterThen) {
  MachineOfFiles machine;
  machine.write("proc/stat", "cpu0 1 0 0 0 0 0 0 0 0 0\n");
  CpuSource source(machine.roots());
  EXPECT_THAT(machine.sample(source), Not(Contains(Key("cpu 1 busy"))));
  machine.write("proc/stat", "cpu0 1 0 0 0 0 0 0 0 0 0\ncpu1 2 0 0 0 0 0 0 0 0 0\n");
  EXPECT_THAT(machine.sample(source), Contains(Pair("cpu 1 busy", 2 * kTickNs)));
}

TEST(MemorySource, TellsWhatIsAvailableDirtyAndSwapped) {
  MachineOfFiles machine;
  machine.write("proc/meminfo",
                "MemTotal:       100 kB\nMemFree:   1 kB\nMemAvailable:   60 kB\nDirty:   4 kB\n"
                "Writeback:   2 kB\nSwapTotal:      50 kB\nSwapFree:       20 kB\n");
  MemorySource source(machine.roots());
  const Values values = machine.sample(source);
  EXPECT_EQ(values.at("memory available"), 60 * 1024);
  EXPECT_EQ(values.at("memory to be written to disks"), 6 * 1024);
  EXPECT_EQ(values.at("swap used"), 30 * 1024);
}

TEST(PressureSource, CountsNanosecondsForSomeAndForAll) {
  MachineOfFiles machine;
  machine.write("proc/pressure/io",
                "some avg10=0.00 avg60=0.00 avg300=0.00 total=123\n"
                "full avg10=0.00 avg60=0.00 avg300=0.00 total=45\n");
  PressureSource source(machine.roots());
  const Values values = machine.sample(source);
  EXPECT_EQ(values, (Values{{"pressure io some", 123e3}, {"pressure io full", 45e3}}));
}

TEST(DiskSource, CountsWholeDisksAlone) {
  MachineOfFiles machine;
  machine.write("sys/block/sda/device/model", "x");
  machine.write("sys/block/loop0/size", "1");
  machine.write("proc/diskstats",
                "   8       0 sda 1 2 30 4 5 6 70 8 0 90 100 0 0 0 0\n"
                "   8       1 sda1 1 2 30 4 5 6 70 8 0 90 100\n"
                "   7       0 loop0 1 2 30 4 5 6 70 8 0 90 100\n");
  DiskSource source(machine.roots());
  EXPECT_EQ(
      machine.sample(source),
      (Values{
          {"disk sda read", 30 * 512}, {"disk sda written", 70 * 512}, {"disk sda busy", 90e6}}));
}

TEST(NetworkSource, CountsInterfacesThatAreUsed) {
  MachineOfFiles machine;
  const std::string head = "Inter-|   Receive\n face |bytes packets\n";
  machine.write("proc/net/dev",
                head +
                    "    lo:       0 0 0 0 0 0 0 0        0 0 0 0 0 0 0 0\n"
                    "  eth0:100 2 3 4 5 6 7 8 900 10 11 12 13 14 15 16\n");
  NetworkSource source(machine.roots());
  EXPECT_EQ(machine.sample(source),
            (Values{{"network eth0 received", 100},
                    {"network eth0 sent", 900},
                    {"network eth0 dropped", 4 + 12}}));
  machine.write("proc/net/dev", head + "    lo: 7 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0\n");
  EXPECT_THAT(machine.sample(source), Contains(Pair("network lo sent", 7)));
}

TEST(InfinibandSource, CountsBytesOfPortsThatAreUsed) {
  MachineOfFiles machine;
  const std::string ports = "sys/class/infiniband/mlx5_0/ports/";
  for (const char* port : {"1", "2"}) {
    machine.write(ports + port + "/counters/port_rcv_data", "0\n");
    machine.write(ports + port + "/counters/port_xmit_data", "0\n");
  }
  machine.write(ports + "3/state", "1: DOWN\n");
  InfinibandSource source(machine.roots());
  EXPECT_EQ(machine.sample(source), Values());
  machine.write(ports + "2/counters/port_rcv_data", "100\n");
  EXPECT_EQ(machine.sample(source),
            (Values{{"network mlx5_0 port 2 received", 400}, {"network mlx5_0 port 2 sent", 0}}));
}

TEST(EnergySource, GoesOnWhereTheKernelsCounterBeginsAgain) {
  MachineOfFiles machine;
  const std::string zone = "sys/class/powercap/intel-rapl:0/";
  machine.write(zone + "name", "package-0\n");
  machine.write(zone + "max_energy_range_uj", "1000000\n");
  machine.write(zone + "energy_uj", "900000\n");
  EnergySource source(machine.roots());
  const std::string name = "energy package-0 (intel-rapl:0)";
  EXPECT_DOUBLE_EQ(machine.sample(source).at(name), 0);
  machine.write(zone + "energy_uj", "950000\n");
  EXPECT_DOUBLE_EQ(machine.sample(source).at(name), 0.05);
  machine.write(zone + "energy_uj", "200000\n");
  EXPECT_DOUBLE_EQ(machine.sample(source).at(name), 0.3);
}

TEST(MachineSources, WhatTheKernelDoesNotTellHasNoCounter) {
  MachineOfFiles machine;
  const Roots roots = machine.roots();
  CpuSource cpu(roots);
  MemorySource memory(roots);
  PressureSource pressure(roots);
  DiskSource disk(roots);
  NetworkSource network(roots);
  InfinibandSource infiniband(roots);
  EnergySource energy(roots);
  for (Source* const source : std::initializer_list<Source*>{
           &cpu, &memory, &pressure, &disk, &network, &infiniband, &energy})
    EXPECT_EQ(machine.sample(*source), Values());
}

TEST(MachineSources, TextThatIsNoneOfTheKernelsIsTakenAsNothing) {
  MachineOfFiles machine;
  for (const char* text : {"", "\n\n", "cpu", "cpu0 -1 x", ":", "eth0:", "1 2", "some total="}) {
    for (const char* file : {"stat", "meminfo", "pressure/io", "diskstats", "net/dev"})
      machine.write(std::string("proc/") + file, text);
    CpuSource cpu(machine.roots());
    PressureSource pressure(machine.roots());
    DiskSource disk(machine.roots());
    NetworkSource network(machine.roots());
    for (Source* const source : std::initializer_list<Source*>{&cpu, &pressure, &disk, &network})
      for (const auto& [name, value] : machine.sample(*source))
        EXPECT_EQ(value, 0) << name;
  }
}

}  // namespace
}  // namespace sonde::recorder::system
