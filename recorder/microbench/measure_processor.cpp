#include "recorder/microbench/measure_processor.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstring>

#include <Eigen/Dense>

namespace sonde::recorder::microbench {
namespace {

using engine::models::KernelKind;

struct Sides {
  Eigen::Index rows;
  Eigen::Index inner;
  Eigen::Index columns;
};
constexpr std::array kProducts = {Sides{32, 32, 32},
                                  Sides{64, 64, 64},
                                  Sides{128, 128, 128},
                                  Sides{256, 256, 256},
                                  Sides{512, 512, 512},
                                  Sides{768, 768, 768},
                                  Sides{8, 512, 1024},
                                  Sides{32, 1024, 1024},
                                  Sides{256, 64, 1024},
                                  Sides{1024, 16, 1024}};

double asReal(Eigen::Index size) {
  return static_cast<double>(size);
}

}  // namespace

std::vector<MeasuredWork> measureProducts(std::chrono::nanoseconds budgetOfEach) {
  std::vector<MeasuredWork> found;
  for (const Sides& of : kProducts) {
    const Eigen::MatrixXf left = Eigen::MatrixXf::Random(of.rows, of.inner);
    const Eigen::MatrixXf right = Eigen::MatrixXf::Random(of.inner, of.columns);
    Eigen::MatrixXf result(of.rows, of.columns);
    MeasuredWork& measured = found.emplace_back();
    measured.what = fmt::format("{} x {} x {}", of.rows, of.inner, of.columns);
    measured.work = {.kind = KernelKind::Matrix,
                     .op = "mm",
                     .type = "float",
                     .flops = 2 * asReal(of.rows) * asReal(of.inner) * asReal(of.columns),
                     .bytes = 4 * asReal(left.size() + right.size() + result.size())};
    measured.time = measure(budgetOfEach, [&] {
      result.noalias() = left * right;
      asm volatile("" : : "r"(result.data()) : "memory");
    });
  }
  return found;
}

std::vector<MeasuredWork> measureCopies(std::chrono::nanoseconds budgetOfEach) {
  constexpr std::size_t kLeast = std::size_t{4} << 10;
  constexpr std::size_t kMost = std::size_t{64} << 20;
  std::vector<char> from(2 * kMost, 1);
  std::vector<char> to(2 * kMost, 2);
  std::vector<MeasuredWork> found;
  for (std::size_t bytes = kLeast; bytes <= kMost; bytes *= 4) {
    // Each copy continues behind the one before, so that all of the buffers has been used since.
    std::size_t at = 0;
    MeasuredWork& measured = found.emplace_back();
    measured.what = fmt::format("{} KiB", bytes >> 10);
    measured.work = {.kind = KernelKind::Memory,
                     .op = "copy",
                     .flops = static_cast<double>(bytes) / 4,
                     .bytes = 2 * static_cast<double>(bytes)};
    measured.time = measure(budgetOfEach, [&] {
      std::memcpy(to.data() + at, from.data() + at, bytes);
      asm volatile("" : : "r"(to.data()) : "memory");
      at = (at + bytes) % (2 * kMost);
    });
  }
  return found;
}

}  // namespace sonde::recorder::microbench
