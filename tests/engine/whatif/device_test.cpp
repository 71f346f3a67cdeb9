// The question about another GPU.
#include "analysis/engine/whatif/compute/device.h"

#include "analysis/engine/whatif/compute/block_sparsity.h"
#include "analysis/engine/whatif/compute/kernel_scaling.h"
#include "analysis/engine/whatif/compute/wave_scaling.h"
#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>

namespace sonde::engine::whatif {
namespace {

using models::DevicePeaks;
using models::KernelKind;
using models::peaksOf;
using models::WorkClass;
using test::ask;
using test::expectNear;
using test::SimulatedJob;
using ::testing::HasSubstr;

jobsim::DataParallel withActivations() {
  jobsim::DataParallel of;
  of.activations = 2;
  of.activationNs = 80'000;
  return of;
}

// The optimizer is bound by memory, as the activations are.
TEST(OtherDeviceQuestion, ScalesKernelsByTheirClass) {
  jobsim::DataParallel then = withActivations();
  then.forwardNs /= 4;
  then.backwardNs /= 4;
  then.activationNs /= 2;
  then.optimizerNs /= 2;
  expectNear(dataParallelJob(withActivations()),
             dataParallelJob(then),
             {device({.bandwidth = 2, .flops = 4})});
}

TEST(OtherDeviceQuestion, UsesPublishedPeaks) {
  jobsim::DataParallel then = withActivations();
  const double flops = 67'000 / 15'700.0;  // of numbers of four bytes: H100 and V100
  const double bandwidth = 3'350 / 900.0;
  const auto over = [](std::int64_t ns, double times) {
    return std::llround(static_cast<double>(ns) / times);
  };
  then.forwardNs = over(then.forwardNs, flops);
  then.backwardNs = over(then.backwardNs, flops);
  then.activationNs = over(then.activationNs, bandwidth);
  then.optimizerNs = over(then.optimizerNs, bandwidth);
  expectNear(dataParallelJob(withActivations()),
             dataParallelJob(then),
             {device({.from = peaksOf("v100"), .to = peaksOf("H100")})});
}

TEST(OtherDeviceQuestion, NeedsKernelsAndPeaks) {
  const auto refused = [](const jobsim::Job& job, const Question& question) {
    const SimulatedJob simulated(job);
    const auto found = answer(simulated.database(), simulated.trace(), {question});
    EXPECT_FALSE(found);
    return found ? ErrorCode::Io : found.error().code;
  };
  const jobsim::Job job = dataParallelJob(withActivations());
  EXPECT_EQ(refused(jobsim::hostDataParallelJob({}), device({.flops = 2})), ErrorCode::NotFound);
  EXPECT_EQ(refused(job, device({.to = peaksOf("H100")})), ErrorCode::NotFound);
  EXPECT_EQ(refused(job, device({.flops = 0})), ErrorCode::InvalidArgument);
  EXPECT_EQ(refused(job, device({.isOfModels = true})), ErrorCode::InvalidArgument);
}

// Habitat's formula: all memory far below the ridge, half of each at it, all arithmetic far above.
TEST(WaveScaling, FollowsMemoryAndArithmeticByTheIntensity) {
  EXPECT_NEAR(memoryShare(0.001, 100), 1, 1e-4);
  EXPECT_EQ(memoryShare(100, 100), 0.5);
  EXPECT_NEAR(memoryShare(1e6, 100), 0, 1e-4);
  EXPECT_EQ(memoryShare(50, 100), 0.75);
  EXPECT_EQ(memoryShare(200, 100), 0.25);
  EXPECT_EQ(waveFactor(2, 8, 1), 0.5);
  EXPECT_EQ(waveFactor(2, 8, 0), 0.125);
  EXPECT_NEAR(waveFactor(2, 8, 0.5), 0.25, 1e-12);
}

TEST(KernelScaling, UsesTheIntensityOfKnownOperators) {
  const DevicePeaks& from = *peaksOf("A100");
  const DevicePeaks& to = *peaksOf("H100");
  const models::OperatorWork even{
      .kind = KernelKind::Matrix, .flops = 989'400.0 / 3'350, .bytes = 1};
  std::vector<ScaledKernel> kernels(2);
  for (ScaledKernel& each : kernels) {
    each.ofClass = WorkClass::Matrix;
    each.isReduced = true;
    each.ns = 100'000;
  }
  kernels[0].work = &even;
  scaleByPeaks(kernels, {}, &from, &to);
  EXPECT_NEAR(kernels[0].factor, std::sqrt(1'555 / 3'350.0 * 312 / 989.4), 1e-9);
  EXPECT_NEAR(kernels[1].factor, 312 / 989.4, 1e-9);
}

// A kernel of 3 µs has 1 µs that the shortest kernels need, too.
TEST(KernelScaling, KeepsTheTimeOfTheShortestKernels) {
  std::vector<ScaledKernel> kernels(2);
  kernels[0].ns = 1'000;
  kernels[1].ns = 3'000;
  scaleByPeaks(kernels, {.bandwidth = 2, .flops = {}}, nullptr, nullptr);
  EXPECT_EQ(kernels[0].factor, 1);
  EXPECT_NEAR(kernels[1].factor, 2'000 / 3'000.0, 1e-9);
}

models::OperatorTimes productsOf(double nsPerFlop) {
  models::OperatorTimes times{.isOnDevice = true, .operators = {}};
  for (double size = 128; size <= 4096; size *= 2) {
    const models::OperatorWork work{.kind = KernelKind::Matrix,
                                    .type = "float",
                                    .flops = 2 * size * size * size,
                                    .bytes = 12 * size * size};
    times.operators.push_back({0, work, 2'000 + nsPerFlop * work.flops});
  }
  return times;
}

TEST(KernelScaling, ComparesModelsOfBothDevices) {
  const models::OperatorTimes times = productsOf(1e-4);
  std::vector<ScaledKernel> kernels(4);
  for (ScaledKernel& each : kernels) {
    each.ofClass = WorkClass::Matrix;
    each.ns = 10'000;
  }
  kernels[0].work = &times.operators.back().work;
  models::OperatorWork beyond = *kernels[0].work;
  beyond.bytes *= 10;
  kernels[1].work = &beyond;              // larger than what the models know
  kernels[3].ofClass = WorkClass::Other;  // unknown, and alone
  const auto given = fitKernelModels(productsOf(5e-5));
  const ModelScaling done = test::must(scaleByModels(kernels, times, given));
  const double flops = kernels[0].work->flops;
  const double factor = (2'000 + flops * 5e-5) / (2'000 + flops * 1e-4);
  EXPECT_NEAR(kernels[0].factor, factor, 1e-6);
  EXPECT_EQ(kernels[1].factor, 1);
  EXPECT_NEAR(kernels[2].factor, factor, 1e-6);
  EXPECT_EQ(kernels[3].factor, 1);
  EXPECT_EQ(done.modelled, 1);
  EXPECT_EQ(done.kept, 2);
  EXPECT_GT(done.error, 0.1);
  EXPECT_FALSE(scaleByModels(kernels, times, {}));
}

// 1 TFLOP/s and 1 TB/s; 100,000 numbers of four bytes can be sparse.
TEST(SparsityRoofline, IsTheDensityWhileArithmeticBounds) {
  const models::OperatorWork work{
      .flops = 1e9, .bytes = 1e6, .sideElements = 1e5, .sideBytes = 4e5};
  EXPECT_NEAR(sparseFactor(work, {.density = 0.1, .block = 32}, 1e3, 1e3), 0.1, 1e-9);
  EXPECT_EQ(sparseFactor(work, {}, 1e3, 1e3), 1);
  // The other bytes remain, and bound it from 1000 times as fast on.
  EXPECT_NEAR(sparseFactor(work, {.density = 1e-5, .block = 32}, 1e3, 1e3),
              (6e5 + 4 + 4 * 1e-5 * 1e5 / 1024) / 1e9,
              1e-9);
}

// An index for each number is as large as the number.
TEST(SparsityRoofline, CountsTheIndices) {
  const models::OperatorWork work{.flops = 1, .bytes = 5e5, .sideElements = 1e5, .sideBytes = 4e5};
  EXPECT_NEAR(sparseFactor(work, {.density = 0.5, .block = 1}, 1e3, 1e3), 1, 1e-9);
  EXPECT_NEAR(sparseFactor(work, {.density = 0.5, .block = 32}, 1e3, 1e3),
              (3e5 + 4 * 5e4 / 1024) / 5e5,
              1e-9);
  EXPECT_EQ(sparseFactor(work, {.density = 0.9, .block = 1}, 1e3, 1e3), 1) << "never slower";
}

TEST(BlockSparsityQuestion, NeedsSizesPeaksAndADensity) {
  const SimulatedJob job(dataParallelJob(withActivations()));
  const auto refused = [&](BlockSparsity of, const DevicePeaks* from) {
    const auto found = answer(job.database(), job.trace(), {blockSparsity(of, from)});
    EXPECT_FALSE(found);
    return found ? Error{ErrorCode::Io, ""} : found.error();
  };
  EXPECT_THAT(refused({.density = 0.5}, peaksOf("A100")).message, HasSubstr("recorded sizes"));
  EXPECT_THAT(refused({.density = 0.5}, nullptr).message, HasSubstr("from="));
  EXPECT_EQ(refused({.density = 0.5}, nullptr).code, ErrorCode::NotFound);
  EXPECT_EQ(refused({.density = 0}, peaksOf("A100")).code, ErrorCode::InvalidArgument);
  EXPECT_EQ(refused({.density = 0.5, .block = 0}, peaksOf("A100")).code,
            ErrorCode::InvalidArgument);
}

}  // namespace
}  // namespace sonde::engine::whatif
