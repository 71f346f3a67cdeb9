#include "analysis/engine/models/kernels/fit_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace sonde::engine::models {
namespace {

OperatorWork product(double rows, double columns, double inner) {
  return {.kind = KernelKind::Matrix,
          .type = "float",
          .flops = 2 * rows * columns * inner,
          .bytes = 4 * (rows * inner + inner * columns + rows * columns)};
}

// 3 µs, 10 TFLOP/s and 500 GB/s.
double roofNs(const OperatorWork& work) {
  return 3000 + std::max(work.flops / 10'000, work.bytes / 500);
}

std::vector<KernelPoint> products() {
  std::vector<KernelPoint> points;
  for (const double rows : {8, 64, 512, 4096})
    for (const double inner : {64, 512, 2048})
      points.push_back({product(rows, 1024, inner), roofNs(product(rows, 1024, inner))});
  return points;
}

TEST(FitKernels, FindsTheRoof) {
  const KernelModel model = fitKernels(products(), true);
  EXPECT_EQ(model.form, KernelForm::Roofline);
  EXPECT_NEAR(model.fixedNs, 3000, 1);
  EXPECT_NEAR(1 / model.flopNs, 10'000, 1);
  EXPECT_NEAR(1 / model.byteNs, 500, 0.1);
  EXPECT_TRUE(model.isErrorMeasured);
  EXPECT_NEAR(model.error, 0, 1e-6);
  EXPECT_EQ(model.sizes, 12);
  const OperatorWork large = product(20'000, 1024, 4096);
  EXPECT_NEAR(model.ns(large) / roofNs(large), 1, 1e-6);
}

TEST(FitKernels, TakesAPowerWhereItPredictsOtherSizesBetter) {
  std::vector<KernelPoint> points = products();
  for (KernelPoint& each : points)
    each.ns = 5 * std::pow(each.work.flops, 0.6);
  const KernelModel model = fitKernels(points, true);
  EXPECT_EQ(model.form, KernelForm::Power);
  EXPECT_NEAR(model.flopPower, 0.6, 1e-6);
  EXPECT_NEAR(model.ns(points[5].work) / points[5].ns, 1, 1e-6);
}

// Every size alternates between 20 % above and below the roof, so a held-out one is off by about as
// much, and nine in ten within the interval.
TEST(FitKernels, StatesItsErrorOnSizesThatAreLeftOut) {
  std::vector<KernelPoint> points = products();
  for (std::size_t at = 0; at < points.size(); ++at)
    points[at].ns *= at % 2 == 0 ? 1.2 : 0.8;
  const KernelModel model = fitKernels(points, true);
  EXPECT_GT(model.error, 0.15);
  EXPECT_LT(model.error, 0.5);
  EXPECT_GE(model.logError, std::log(1.2));
  const double inside = model.interval(points[4].work);
  EXPECT_NEAR(inside, std::expm1(model.logError), 1e-9);
  EXPECT_GT(model.interval(product(1e5, 1e5, 1024)), 2 * inside);
}

// Points of every second size, if they are twice as many.
TEST(FitKernels, HoldsOutSomeOfManySizes) {
  std::vector<KernelPoint> points;
  for (std::size_t at = 0; at < 2 * kMostHeldOut - 1; ++at) {
    const OperatorWork work = product(8 + 8 * static_cast<double>(at), 1024, 512);
    points.push_back({work, roofNs(work) * (1 + 0.1 * static_cast<double>(at % 7))});
  }
  std::vector<KernelPoint> some;
  for (std::size_t at = 0; at < points.size(); at += 2)
    some.push_back(points[at]);
  const KernelModel all = fitKernels(points, true);
  const KernelModel ofSome = fitKernels(some, true);
  EXPECT_EQ(all.error, ofSome.error);
  EXPECT_EQ(all.logError, ofSome.logError);
  EXPECT_NE(all.flopNs, ofSome.flopNs);
  EXPECT_EQ(all.sizes, 2 * static_cast<std::int64_t>(kMostHeldOut) - 1);
}

// 1 flop or 175 for each element: the operations have no common speed, also if that would fit
// better.
TEST(FitKernels, OfMemoryGoesByBytesAlone) {
  std::vector<KernelPoint> points;
  for (double bytes = 1e5; bytes < 1e8; bytes *= 4) {
    const bool isLong = points.size() % 2 == 1;
    points.push_back({{.flops = bytes / 8 * (isLong ? 175 : 1), .bytes = bytes},
                      2000 + bytes / (isLong ? 800 : 1000)});
  }
  const KernelModel model = fitKernels(points, true);
  EXPECT_EQ(model.flopNs, 0);
  EXPECT_NEAR(1 / model.byteNs, 900, 50);
}

// The same size from two operators is no proof of the size.
TEST(FitKernels, DoesNotHoldOutASizeWhoseTwinStays) {
  std::vector<KernelPoint> points = products();
  points.resize(2);
  points.push_back(points.front());
  points.back().work.bytes *= 1.01;
  points.push_back(points.front());
  points.back().work.bytes *= 1.02;
  const KernelModel model = fitKernels(points, true);
  EXPECT_FALSE(model.isErrorMeasured);
  EXPECT_EQ(model.error, 0.5);
}

TEST(FitKernels, OneSizeIsInProportion) {
  const OperatorWork work = product(512, 512, 512);
  const KernelModel model = fitKernels({{work, 1e6}}, false);
  EXPECT_NEAR(model.ns(product(1024, 512, 512)), 2e6, 1);
  EXPECT_FALSE(model.isErrorMeasured);
  const std::vector<KernelModel> all = {model};
  EXPECT_EQ(modelOf(all, work, false), all.data());
  EXPECT_EQ(modelOf(all, work, true), nullptr);
  std::vector<KernelModel> own = {model, model};
  own[1].op = "mm";
  EXPECT_EQ(modelOf(own, work, false), own.data());
  OperatorWork named = work;
  named.op = "mm";
  EXPECT_EQ(modelOf(own, named, false), &own[1]);
  named.op = "bmm";
  EXPECT_EQ(modelOf(own, named, false), own.data());
  EXPECT_EQ(modelOf(all, {.kind = KernelKind::Memory}, false), nullptr);
}

}  // namespace
}  // namespace sonde::engine::models
