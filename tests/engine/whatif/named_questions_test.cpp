// Questions by name: overlap, compression, mixed precision, fusion, and waits for devices.
#include "analysis/engine/models/kernels/work_classes.h"
#include "analysis/engine/whatif/compute/fusion.h"
#include "analysis/engine/whatif/compute/host_syncs.h"
#include "analysis/engine/whatif/compute/layout.h"
#include "analysis/engine/whatif/compute/mixed_precision.h"
#include "analysis/engine/whatif/gradients/compression.h"
#include "analysis/engine/whatif/gradients/overlap.h"
#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/workloads.h"

#include <gtest/gtest.h>

namespace sonde::engine::whatif {
namespace {

using models::classOfKernel;
using models::classOfOperator;
using models::convertsLayout;
using models::isOfReducedPrecision;
using models::WorkClass;
using test::ask;
using test::expectNear;
using test::reducingJob;
using test::refusal;
using test::SimulatedJob;

TEST(Overlap, ReducesGradientsDuringTheBackwardPass) {
  jobsim::DataParallel now = reducingJob();
  now.isOverlapped = false;
  const std::vector<Question> asked{overlap(now.bucketBytes)};
  expectNear(dataParallelJob(now), dataParallelJob(reducingJob()), asked);
  expectNear(hostDataParallelJob(now), hostDataParallelJob(reducingJob()), asked);
}

TEST(Overlap, LeavesAJobThatDoesSoAlready) {
  const Answer answer = ask(SimulatedJob(dataParallelJob(reducingJob())), {overlap(4'000'000)});
  EXPECT_EQ(answer.predictedNs, answer.baselineNs);
  ASSERT_EQ(answer.notes.size(), 1U);
  EXPECT_NE(answer.notes.front().find("already"), std::string::npos);
}

TEST(Compression, SendsHalfAndTakesTimeToEncode) {
  jobsim::DataParallel then = reducingJob();
  then.bucketBytes /= 2;
  then.codecNs = 400'000;
  const Question asked = compression({.bytesPerNs = 10});  // 4 MB in 0.4 ms
  expectNear(dataParallelJob(reducingJob()), dataParallelJob(then), {asked});
  expectNear(hostDataParallelJob(reducingJob()), hostDataParallelJob(then), {asked});
}

// It pays only on a network that is slower than the note says.
TEST(Compression, PaysOnlyBelowABandwidth) {
  jobsim::DataParallel now;
  now.ranks = 2;
  now.buckets = 1;
  now.isOverlapped = false;
  now.bucketBytes = 16'000'000;
  const auto gainOn = [&](double gbit) {
    now.link = {.latencyNs = 100, .bytesPerUs = static_cast<std::int64_t>(gbit * 125)};
    const Answer answer = ask(SimulatedJob(hostDataParallelJob(now)), {compression({})});
    EXPECT_NE(answer.notes.front().find("below 4 Gbit/s"), std::string::npos)
        << answer.notes.front();
    return answer.baselineNs - answer.predictedNs;
  };
  // Two ranks send each gradient once: half a byte saved, one ns to encode and decode a byte.
  EXPECT_GT(gainOn(3.8), 0);
  EXPECT_LT(gainOn(4.2), 0);
}

TEST(Compression, RefusesRatiosThatAreNone) {
  EXPECT_EQ(refusal(dataParallelJob(reducingJob()), compression({.ratio = 0})),
            ErrorCode::InvalidArgument);
  EXPECT_EQ(refusal(dataParallelJob(reducingJob()), compression({.ratio = 2})),
            ErrorCode::InvalidArgument);
  EXPECT_EQ(refusal(jobsim::loaderJob({}), compression({})), ErrorCode::NotFound);
}

// Daydream's rule: products of matrices three times as fast.
TEST(MixedPrecision, MakesKernelsFasterByTheirClass) {
  jobsim::DataParallel now = reducingJob();
  now.activations = 2;
  now.activationNs = 80'000;
  jobsim::DataParallel then = now;
  then.forwardNs = now.forwardNs / 3;
  then.backwardNs = now.backwardNs / 3;
  then.activationNs = now.activationNs / 2;
  expectNear(dataParallelJob(now), dataParallelJob(then), {mixedPrecision({})});
}

TEST(MixedPrecision, NeedsKernels) {
  EXPECT_EQ(refusal(hostDataParallelJob(reducingJob()), mixedPrecision({})), ErrorCode::NotFound);
}

// The simulated products of matrices have the names of two-byte ones then.
TEST(Fp8, MakesProductsOfMatricesFaster) {
  jobsim::DataParallel now = reducingJob();
  now.activations = 2;
  now.matrixKernel = "ampere_bf16_s16816gemm";
  jobsim::DataParallel then = now;
  then.forwardNs = now.forwardNs / 2;
  then.backwardNs = now.backwardNs / 2;
  expectNear(dataParallelJob(now), dataParallelJob(then), {fp8()});
  EXPECT_EQ(refusal(dataParallelJob(reducingJob()), fp8()), ErrorCode::NotFound);
  now.matrixKernel = "nvjet_qqtst_fp8_e4m3_gemm";
  EXPECT_EQ(refusal(dataParallelJob(now), fp8()), ErrorCode::NotFound);
}

TEST(Layout, LeavesOutConversionsAndTheirLaunches) {
  jobsim::DataParallel now = jobsim::hostBound();
  now.activations = 2;
  now.activationNs = 30'000;
  jobsim::DataParallel then = now;
  then.activations = 0;
  expectNear(dataParallelJob(now), dataParallelJob(then), {layout({"*elementwise*"})});
  EXPECT_EQ(refusal(dataParallelJob(now), layout({})), ErrorCode::NotFound);
}

TEST(Fusion, KeepsTheLongestOfPointwiseKernels) {
  jobsim::DataParallel now = reducingJob();
  now.activations = 3;
  now.activationNs = 50'000;
  jobsim::DataParallel then = now;
  then.activations = 1;
  expectNear(dataParallelJob(now), dataParallelJob(then), {fusion(Fusion::Pointwise)});
}

// The calls of what is fused are saved, too.
TEST(Fusion, OfCallsThatTakeLongerThanTheirKernels) {
  jobsim::DataParallel now = jobsim::hostBound();
  now.activations = 2;
  now.activationNs = 4'000;
  jobsim::DataParallel then = now;
  then.activations = 1;
  expectNear(dataParallelJob(now), dataParallelJob(then), {fusion(Fusion::Pointwise)});
}

TEST(Fusion, NeedsNeighbours) {
  EXPECT_EQ(refusal(dataParallelJob(reducingJob()), fusion(Fusion::Pointwise)),
            ErrorCode::NotFound);
  EXPECT_EQ(refusal(dataParallelJob(reducingJob()), fusion(Fusion::Optimizer)),
            ErrorCode::NotFound);
}

// The forward kernels keep the device busy while the thread launches the backward ones.
TEST(HostSyncs, GoOnWithoutTheDevice) {
  jobsim::DataParallel then = jobsim::hostBound();
  then.forwardNs = 200'000;
  jobsim::DataParallel now = then;
  now.readsLoss = true;
  expectNear(dataParallelJob(now), dataParallelJob(then), {noHostSyncs()});
}

TEST(HostSyncs, TheLastOneOfAnIterationStays) {
  EXPECT_EQ(refusal(dataParallelJob(reducingJob()), noHostSyncs()), ErrorCode::NotFound);
}

TEST(WorkClasses, KnowTheLibrariesNames) {
  for (const char* name : {"ampere_sgemm_128x64_nn",
                           "sm80_xmma_fprop_implicit_gemm_f32f32_tf32f32_nhwc",
                           "void cudnn::winograd_nonfused::winogradForwardData4x4",
                           "Cijk_Ailk_Bljk_SB_MT128x128x16",
                           "flash_fwd_kernel",
                           "nvjet_hsh_128x256_64x4"})
    EXPECT_EQ(classOfKernel(name), WorkClass::Matrix) << name;
  for (const char* name : {"void at::native::vectorized_elementwise_kernel<4, at::native::relu>",
                           "triton_poi_fused_convolution_relu_0"})
    EXPECT_EQ(classOfKernel(name), WorkClass::Pointwise) << name;
  EXPECT_EQ(classOfKernel("triton_per_fused_native_layer_norm_3"), WorkClass::Other);
  EXPECT_EQ(classOfKernel("void cunn_SoftMaxForward<4, float>"), WorkClass::Other);
  EXPECT_TRUE(isOfReducedPrecision("turing_fp16_s1688gemm_fp16_128x128"));
  EXPECT_FALSE(isOfReducedPrecision("ampere_sgemm_128x64_nn"));
  EXPECT_TRUE(convertsLayout("void cudnn::ops::nchwToNhwcKernel<float, float>"));
  EXPECT_FALSE(convertsLayout("sm80_xmma_fprop_implicit_gemm_f32f32_nhwc_permute"));
  EXPECT_EQ(classOfOperator("aten::add_"), WorkClass::Pointwise);
  EXPECT_EQ(classOfOperator("aten::addmm"), WorkClass::Matrix);
  EXPECT_EQ(classOfOperator("aten::sum"), WorkClass::Other);
}

}  // namespace
}  // namespace sonde::engine::whatif
