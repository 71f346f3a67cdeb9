#include "analysis/model/communication_names.h"

#include <gtest/gtest.h>

namespace sonde::model {
namespace {

TEST(CommunicationNames, AreThoseOfTheTable) {
  for (const char* const name :
       {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "void ncclKernel<1>(x)",
        "void deep_ep::intranode::combine<__nv_bfloat16, 8, 768>(int)",
        "void sglang::cross_device_reduce_2stage<float, 4>(sglang::RankData*)",
        "void tensorrt_llm::kernels::ar_fusion::allreduce_fusion_kernel_twoshot_sync<1>(P)",
        "void flashinfer::trtllm_mnnvl_allreduce::twoshotAllreduceKernel<4, __half>(x)",
        "void tensorrt_llm::kernels::moeA2ADispatchKernel<8>(x)",
        "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(x)",
        "c10d::symmetric_memory::barrier_kernel(unsigned int**, int)",
        "void nvshmemi_proxy_quiet(bool)",
        "void pplx::dispatchKernel<8>(x)",
        "hcom_allReduce__012_0_1",
        "userbuffers_fp16_sum_inplace_gpu_rr_rs"})
    EXPECT_TRUE(isCommunicationKernel(name)) << name;
}

TEST(CommunicationNames, AreNotThoseThatMoveDataOnOneDevice) {
  for (const char* const name : {"void at::native::reduce_kernel<512, 1>(x)",
                                 "void gemm<float>(vllm::cross_device_reduce*)",
                                 "void softmax<nccl>(x)",
                                 "void warpAllReduceSoftmax<4>(x)",
                                 "void block_all_reduce_sum(float*)",
                                 "void deep_ep::layout::get_dispatch_layout<256>(x)",
                                 "void moe::dispatch_tokens<8>(x)",
                                 "void at::native::gather_kernel(x)",
                                 "memcpy128",
                                 ""})
    EXPECT_FALSE(isCommunicationKernel(name)) << name;
}

TEST(CommunicationNames, PatternsFitAllOfAText) {
  EXPECT_TRUE(fitsPattern("*", ""));
  EXPECT_TRUE(fitsPattern("a*c?", "ABBCD"));
  EXPECT_TRUE(fitsPattern("*aab", "aaaab"));
  EXPECT_TRUE(fitsPattern("**b**", "abc"));
  EXPECT_FALSE(fitsPattern("b", "abc"));
  EXPECT_FALSE(fitsPattern("a?", "a"));
  EXPECT_FALSE(fitsPattern("", "a"));
  EXPECT_EQ(functionOfKernel("static void a::(anonymous namespace)::b<int>(c)"), "a::b");
}

}  // namespace
}  // namespace sonde::model
