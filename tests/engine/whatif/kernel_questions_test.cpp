// Questions about kernels by their names, and by the types and sizes of their operators.
#include "analysis/engine/models/kernels/work_classes.h"
#include "analysis/engine/whatif/compute/mixed_precision.h"
#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/programs.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>

#include <map>

namespace sonde::engine::whatif {
namespace {

using jobsim::Begin;
using jobsim::dataParallelJob;
using jobsim::Launch;
using models::classOfKernel;
using models::isOfOneByte;
using models::isOfReducedPrecision;
using models::WorkClass;
using test::expectNear;
using test::reducingJob;

// Kernels of these names are within such operators.
jobsim::Job withOperators(jobsim::Job job, const std::map<std::string, Begin>& operators) {
  for (jobsim::Thread& thread : job.threads) {
    std::vector<jobsim::Op> program;
    for (const jobsim::Op& each : thread.program) {
      const auto* launch = std::get_if<Launch>(&each);
      const auto of = launch == nullptr ? operators.end() : operators.find(launch->name);
      if (of == operators.end())
        program.push_back(each);
      else
        jobsim::append(program, {of->second, each, jobsim::End{}});
    }
    thread.program = std::move(program);
  }
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

// The forward kernels have names without a type.
TEST(MixedPrecision, UsesTheTypesOfOperators) {
  const std::map<std::string, Begin> operators = {
      {"forward_gemm",
       {jobsim::Scope::Operator,
        "aten::mm",
        "[[512, 512], [512, 512]]",
        "[c10::BFloat16, c10::BFloat16]"}}};
  const jobsim::DataParallel now = reducingJob();
  jobsim::DataParallel then = now;
  then.backwardNs = now.backwardNs / 3;
  expectNear(withOperators(dataParallelJob(now), operators),
             dataParallelJob(then),
             {mixedPrecision({})});
  then = now;
  then.forwardNs = now.forwardNs / 2;
  expectNear(
      withOperators(dataParallelJob(now), operators), dataParallelJob(then), {fp8()});
}

}  // namespace
}  // namespace sonde::engine::whatif
