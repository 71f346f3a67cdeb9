#include "plugins/pytorch/tensors/npy.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

namespace sonde::torch {
namespace {

class Npy : public testing::Test {
 protected:
  Npy() : file_(memfd_create("npy", MFD_CLOEXEC)) {}
  ~Npy() override { close(file_); }
  Npy(const Npy&) = delete;
  Npy& operator=(const Npy&) = delete;

  std::string content() const {
    std::string text(static_cast<std::size_t>(lseek(file_, 0, SEEK_END)), '\0');
    EXPECT_EQ(pread(file_, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    return text;
  }

  int file_;
};

TEST_F(Npy, HasTheHeaderThatNumPyReadsAndTheElementsInTheirOrder) {
  const std::vector<std::int16_t> memory = {0, 1, 2, 3, 4, 5};
  const std::int64_t sizes[] = {2, 3};
  const std::int64_t strides[] = {1, 2};  // transposed
  EXPECT_EQ(appendNpy(file_, {memory.data(), ElementType::Int16, 2, sizes, strides}), 0);
  const std::string text = content();
  EXPECT_EQ(text.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_NE(text.find("{'descr': '<i2', 'fortran_order': False, 'shape': (2,3,), }"),
            std::string::npos);
  const std::size_t begin = text.find('\n') + 1;
  EXPECT_EQ(begin % 64, 0U);
  const std::vector<std::int16_t> expected = {0, 2, 4, 1, 3, 5};
  EXPECT_EQ(text.substr(begin),
            std::string(reinterpret_cast<const char*>(expected.data()), 2 * expected.size()));
}

TEST_F(Npy, StandsBehindWhatThereIs) {
  const double value = 3;
  const Strided one{&value, ElementType::Float64, 0, nullptr, nullptr};
  EXPECT_EQ(appendNpy(file_, one), 0);
  const auto end = static_cast<std::int64_t>(content().size());
  EXPECT_EQ(appendNpy(file_, one), end);
}

TEST_F(Npy, WhatDoesNotFitIsCutOff) {
  const std::vector<float> memory(100'000);
  const auto size = static_cast<std::int64_t>(memory.size());
  const std::int64_t stride = 1;
  const rlimit small{1 << 16, RLIM_INFINITY};
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  const std::int64_t offset =
      appendNpy(file_, {memory.data(), ElementType::Float32, 1, &size, &stride});
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);
  EXPECT_EQ(offset, -EFBIG);
  EXPECT_EQ(content(), "");
}

}  // namespace
}  // namespace sonde::torch
