#include "analysis/engine/models/kernels/device_peaks.h"

#include <gtest/gtest.h>

#include <string>

namespace sonde::engine::models {
namespace {

std::string nameOf(const DevicePeaks* peaks) {
  return std::string(peaks == nullptr ? "" : peaks->name);
}

TEST(DevicePeaks, AreFoundByTheDriversNames) {
  const auto found = [](std::string_view name) { return nameOf(peaksOfDevice(name)); };
  EXPECT_EQ(found("NVIDIA H100 80GB HBM3"), "H100");
  EXPECT_EQ(found("NVIDIA H100 PCIe"), "H100-PCIe");
  EXPECT_EQ(found("NVIDIA H100 NVL"), "H100-NVL");
  EXPECT_EQ(found("NVIDIA H200 NVL"), "H200-NVL");
  EXPECT_EQ(found("NVIDIA A100-SXM4-80GB"), "A100-80GB");
  EXPECT_EQ(found("NVIDIA A100-PG509-200"), "A100");
  EXPECT_EQ(found("Tesla V100-SXM2-32GB"), "V100");
  EXPECT_EQ(found("Tesla V100S-PCIE-32GB"), "V100S");
  EXPECT_EQ(found("Tesla T4"), "T4");
  EXPECT_EQ(found("AMD Instinct MI300X VF"), "MI300X");
}

// Parts of words are other devices.
TEST(DevicePeaks, AreThoseOfWholeWords) {
  for (const char* name : {"Quadro P1000",
                           "NVIDIA T400",
                           "NVIDIA T4G",
                           "NVIDIA A1000",
                           "NVIDIA A100X",
                           "Quadro GV100",
                           "NVIDIA GeForce RTX 2080 Ti",
                           ""})
    EXPECT_EQ(nameOf(knownDevice(name)), "") << name;
}

// One of an MI250X's two dies, as ROCm shows them.
TEST(DevicePeaks, AreThoseOfADevice) {
  const DevicePeaks& of = *peaksOfDevice("AMD Instinct MI250X");
  EXPECT_EQ(of.bandwidth, 1'638);
  EXPECT_EQ(of.half, 191'500);
  EXPECT_EQ(peaksOf("H100-NVL")->bandwidth, 3'938);
  EXPECT_EQ(peaksOf("V100S")->half, 130'000);
}

TEST(DevicePeaks, MayLackABandwidth) {
  EXPECT_EQ(nameOf(knownDevice("NVIDIA GB200")), "GB200");
  EXPECT_EQ(peaksOfDevice("NVIDIA GB200"), nullptr);
  EXPECT_EQ(peaksOf("GB200"), nullptr);
  EXPECT_EQ(namesOfPeaks().find("GB200"), std::string::npos);
  EXPECT_EQ(peaksOf("h200")->name, "H200");
  EXPECT_EQ(peaksOf("H1"), nullptr);
}

}  // namespace
}  // namespace sonde::engine::models
