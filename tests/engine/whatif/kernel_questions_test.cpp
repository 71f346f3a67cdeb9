// Questions about kernels by their names, and by the types and sizes of their operators.
#include "analysis/engine/models/kernels/work_classes.h"
#include "analysis/engine/whatif/compute/fusion.h"
#include "analysis/engine/whatif/compute/layout.h"
#include "analysis/engine/whatif/compute/mixed_precision.h"
#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/programs.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sonde::engine::whatif {
namespace {

using jobsim::Begin;
using jobsim::dataParallelJob;
using jobsim::End;
using jobsim::Launch;
using jobsim::Scope;
using models::classOfKernel;
using models::isOfOneByte;
using models::isOfReducedPrecision;
using models::WorkClass;
using test::ask;
using test::expectNear;
using test::reducingJob;
using test::refusal;
using test::SimulatedJob;
using ::testing::Contains;
using ::testing::HasSubstr;

using Program = std::vector<jobsim::Op>;

// In place of the n-th launch of this name, each thread runs what `made` returns.
jobsim::Job replaced(jobsim::Job job,
                     const std::string& name,
                     const std::function<Program(int n, const Launch& launch)>& made) {
  for (jobsim::Thread& thread : job.threads) {
    Program program;
    int n = 0;
    for (const jobsim::Op& each : thread.program) {
      const auto* launch = std::get_if<Launch>(&each);
      if (launch != nullptr && launch->name == name)
        jobsim::append(program, made(n++, *launch));
      else
        program.push_back(each);
    }
    thread.program = std::move(program);
  }
  return job;
}

// Kernels of these names are within such operators.
jobsim::Job withOperators(jobsim::Job job, const std::map<std::string, Begin>& operators) {
  for (const auto& [name, of] : operators)
    job = replaced(std::move(job), name, [&, begin = of](int, const Launch& launch) {
      return Program{begin, launch, End{}};
    });
  return job;
}

// As traces of an H100, a B200 and an MI300X have them.
TEST(KernelNames, SayHowLongNumbersAre) {
  for (const char* name :
       {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1",
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<"
        "c10::BFloat16>, std::array<char*, 3ul> >(int)",
        "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, "
        "4, false, false, cutlass::bfloat16_t>>",
        "void at::native::CatArrayBatchedCopy<at::native::OpaqueType<2u>, unsigned int, 4>",
        "nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT",
        "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NTN",
        "nvjet_sm100_tst_256x128_64x5_2x2_2cta_h_bz_TNT",
        "Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT256x128x64",
        "Cijk_Alik_Bljk_BSS_BH_Bias_S_HA_S_SAV_UserArgs_MT16x16x128",
        "Cijk_Ailk_Bjlk_HHS_BH_MT128x128x32"}) {
    EXPECT_TRUE(isOfReducedPrecision(name)) << name;
    EXPECT_FALSE(isOfOneByte(name)) << name;
  }
  for (const char* name : {"nvjet_sm100_qqtst_128x256_128x6_2x1_2cta_v_bz_bias_TNT",
                           "nvjet_ootst_128x128_Avec16UE4M3_Bvec16UE4M3",
                           "bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16",
                           "Custom_Cijk_Alik_Bljk_F8B8BS_BH_MT256x256x128",
                           "Cijk_Alik_Bljk_B8F8S_BH_MT256x256x128"}) {
    EXPECT_TRUE(isOfReducedPrecision(name)) << name;
    EXPECT_TRUE(isOfOneByte(name)) << name;
  }
  for (const char* name : {"ampere_sgemm_128x64_nn",
                           "nvjet_sss_tf32_128x256_TNT",
                           "nvjet_",
                           "Cijk_",
                           "Cijk_Ailk_Bljk",
                           "Cijk_Ailk_Bljk_S_B_Bias_HA_S_SAV_UserArgs_MT16x16x128",
                           "Cijk_Alik_Bljk_SB_Bias_AS_SAV_UserArgs_MT64x16x32",
                           "attn_fwd"})
    EXPECT_FALSE(isOfReducedPrecision(name)) << name;
  EXPECT_EQ(classOfKernel("bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3"), WorkClass::Matrix);
}

TEST(KernelNames, TellConversionsFromConvolutions) {
  for (const char* name : {"loop_convert_fusion_3",
                           "std::enable_if<vllm::_typeConvert<c10::BFloat16>::exists, void>::type "
                           "vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>",
                           "void type_conversion_kernel<float, __half>"})
    EXPECT_EQ(classOfKernel(name), WorkClass::Other) << name;
  for (const char* name : {"loop_convert_conv_fusion", "implicit_convolve_sgemm", "conv"})
    EXPECT_EQ(classOfKernel(name), WorkClass::Matrix) << name;
}

TEST(KernelNames, TellConversionsOfLayoutsFromOtherOrders) {
  for (const char* name : {"void cudnn::ops::nhwcToNchwKernel<__half, __half, float>",
                           "batched_transpose_32x32_half",
                           "wrapped_transpose"})
    EXPECT_TRUE(models::convertsLayout(name)) << name;
  for (const char* name : {"_permute_kernel",
                           "void moe_permute_kernel<__nv_bfloat16>",
                           "moe_transpose_kernel",
                           "void token_transpose_kernel<float>",
                           "void transformer_engine::cast_transpose_kernel<false, float>",
                           "triton_poi_fused_add_transpose_3"})
    EXPECT_FALSE(models::convertsLayout(name)) << name;
}

// The forward kernels have names without a type.
TEST(MixedPrecision, UsesTheTypesOfOperators) {
  const std::map<std::string, Begin> operators = {{"forward_gemm",
                                                   {Scope::Operator,
                                                    "aten::mm",
                                                    "[[512, 512], [512, 512]]",
                                                    "[c10::BFloat16, c10::BFloat16]"}}};
  const jobsim::DataParallel now = reducingJob();
  jobsim::DataParallel then = now;
  then.backwardNs = now.backwardNs / 3;
  expectNear(
      withOperators(dataParallelJob(now), operators), dataParallelJob(then), {mixedPrecision({})});
  then = now;
  then.forwardNs = now.forwardNs / 2;
  expectNear(withOperators(dataParallelJob(now), operators), dataParallelJob(then), {fp8()});
}

constexpr const char* kActivation = "vectorized_elementwise_kernel";

jobsim::DataParallel activationJob(int count) {
  jobsim::DataParallel of = reducingJob();
  of.activations = count;
  of.activationNs = 50'000;
  return of;
}

// Two kernels on one tensor, and one on another.
TEST(Fusion, NeedsKernelsOfOneSize) {
  const jobsim::Job now =
      replaced(dataParallelJob(activationJob(3)), kActivation, [](int n, Launch launch) {
        launch.blocks = n % 3 < 2 ? 100 : 200;
        return Program{launch};
      });
  expectNear(now, dataParallelJob(activationJob(2)), {fusion(Fusion::Pointwise)});
}

// Sizes of operators come first: kernels of one grid may work on different numbers of elements.
TEST(Fusion, ComparesTheSizesOfOperators) {
  const jobsim::Job now =
      replaced(dataParallelJob(activationJob(3)), kActivation, [](int n, Launch launch) {
        launch.blocks = 100;
        const char* shapes = n % 3 < 2 ? "[[8, 64], [64]]" : "[[8, 128], [128]]";
        return Program{
            Begin{Scope::Operator, "aten::mul", shapes, "[float, float]"}, launch, End{}};
      });
  expectNear(now, dataParallelJob(activationJob(2)), {fusion(Fusion::Pointwise)});
}

TEST(Fusion, CountsKernelsWithoutASize) {
  const Answer answer =
      ask(SimulatedJob(dataParallelJob(activationJob(2))), {fusion(Fusion::Pointwise)});
  EXPECT_THAT(answer.notes, Contains(HasSubstr("have no recorded size")));
}

// An optimizer that is not fused works on another tensor with each kernel.
TEST(Fusion, LeavesOptimizers) {
  const jobsim::Job now = replaced(dataParallelJob(reducingJob()), "adam", [](int, Launch launch) {
    launch.name = kActivation;
    return Program{launch, launch, launch};
  });
  EXPECT_EQ(refusal(now, fusion(Fusion::Pointwise)), ErrorCode::NotFound);
}

// The same on processors.
TEST(Fusion, OfOperatorsOfOneSize) {
  const auto jobOf = [](const std::vector<std::string>& shapes) {
    jobsim::Job job = jobsim::machinesFor(1, 1, 0);
    Program program;
    for (int i = 0; i < 4; ++i) {
      program.push_back(Begin{Scope::Iteration, "step"});
      for (const std::string& each : shapes)
        jobsim::append(program,
                       {Begin{Scope::Operator, "aten::relu", each, "[float]"},
                        jobsim::Compute{"relu", 100'000},
                        End{}});
      jobsim::append(program, {jobsim::Compute{"other", 50'000}, End{}});
    }
    job.threads = {{0, "python3", program}};
    return job;
  };
  expectNear(jobOf({"[[8, 64]]", "[[8, 64]]", "[[8, 128]]"}),
             jobOf({"[[8, 64]]", "[[8, 128]]"}),
             {fusion(Fusion::Pointwise)});
}

jobsim::DataParallel shortActivations(int count) {
  jobsim::DataParallel of = jobsim::hostBound();
  of.activations = count;
  of.activationNs = 4'000;
  return of;
}

// The operator of two kernels keeps the call of the first one.
TEST(Fusion, KeepsTheCallInAnOperatorOfSeveralKernels) {
  const Begin begin{Scope::Operator, "aten::gelu"};
  const jobsim::Job now =
      replaced(dataParallelJob(shortActivations(2)), kActivation, [&](int n, const Launch& launch) {
        return n % 2 == 0 ? Program{begin, launch} : Program{launch, End{}};
      });
  expectNear(now, dataParallelJob(shortActivations(1)), {fusion(Fusion::Pointwise)});
}

// The second kernel is fused with the first one. The third one, of the same operator, stays.
TEST(Fusion, KeepsCallsOfOtherKernelsInTheOperator) {
  const Begin begin{Scope::Operator, "aten::gelu"};
  const jobsim::Job now =
      replaced(dataParallelJob(shortActivations(3)), kActivation, [&](int n, Launch launch) {
        launch.blocks = n % 3 < 2 ? 100 : 200;
        return n % 3 == 0   ? Program{launch}
               : n % 3 == 1 ? Program{begin, launch}
                            : Program{launch, End{}};
      });
  expectNear(now, dataParallelJob(shortActivations(2)), {fusion(Fusion::Pointwise)});
}

TEST(Layout, ListsTheKernels) {
  const jobsim::Job job =
      replaced(dataParallelJob(activationJob(5)), kActivation, [](int n, Launch launch) {
        launch.name = "transpose" + std::to_string(n % 5) + std::string(60, '_');
        return Program{launch};
      });
  const Answer answer = ask(SimulatedJob(job), {layout({})});
  const std::string rest(50, '_');
  EXPECT_THAT(answer.notes.front(),
              HasSubstr("transpose0" + rest + "…, transpose1" + rest + "…, transpose2" + rest +
                        "… and 2 more;"));
}

}  // namespace
}  // namespace sonde::engine::whatif
