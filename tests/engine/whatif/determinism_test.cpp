// The question about deterministic algorithms.
#include "analysis/engine/whatif/sharing/determinism.h"

#include "analysis/engine/whatif/sharing/deterministic_forms.h"
#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/programs.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>

namespace sonde::engine::whatif {
namespace {

using jobsim::dataParallelJob;
using test::ask;
using test::expectNear;
using test::refusal;
using test::SimulatedJob;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kIndexAdd =
    "void at::native::indexFuncLargeIndex<float, long, unsigned int, 2, 2, -2, true, ReduceAdd>()";
constexpr const char* kAtomicWgrad = "void cudnn::cnn::wgrad_alg0_engine<float, 512, 6, 5, 3>()";

// The kernels called `from` get another name, and take `percent` of their time.
jobsim::Job withKernel(jobsim::Job job, const char* from, const char* to, int percent = 100) {
  for (jobsim::Thread& thread : job.threads)
    for (jobsim::Op& op : thread.program)
      if (auto* launch = std::get_if<jobsim::Launch>(&op);
          launch != nullptr && launch->name == from)
        *launch = {to, launch->callNs, launch->stream, launch->ns * percent / 100};
  return job;
}

TEST(DeterministicForms, AreThoseThatPyTorchDocuments) {
  using Form = DeterministicForm;
  const auto ofKernel = [](const char* kernel) { return deterministicFormOf("", kernel); };
  EXPECT_EQ(ofKernel(kIndexAdd), Form::Sorted);
  EXPECT_EQ(ofKernel("index_elementwise_kernel<128, 4, gpu_index_kernel<index_put_kernel_impl<O>>"),
            Form::Sorted);
  EXPECT_EQ(ofKernel("_scatter_gather_elementwise_kernel<128, 8, "
                     "_cuda_scatter_gather_internal_kernel<true, float>::operator()<ReduceAdd>"),
            Form::Sorted);
  EXPECT_EQ(ofKernel("_scatter_gather_elementwise_kernel<128, 8, "
                     "_cuda_scatter_gather_internal_kernel<false, float>::operator()<T>"),
            Form::Same)
      << "a gather";
  EXPECT_EQ(ofKernel("indexing_backward_kernel<float, 4>"), Form::Same) << "it sorts already";
  EXPECT_EQ(ofKernel(kAtomicWgrad), Form::OtherAlgorithm);
  EXPECT_EQ(ofKernel("cudnn::cnn::wgrad_alg1_engine<float>"), Form::Same);
  EXPECT_EQ(ofKernel("sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32"), Form::Unknown);
  EXPECT_EQ(ofKernel("sm80_xmma_fprop_implicit_gemm"), Form::Same);
  EXPECT_EQ(ofKernel("at::native::grid_sampler_2d_backward_kernel<float, int>"), Form::Missing);
  EXPECT_EQ(deterministicFormOf("aten::scatter_add_", "some_kernel"), Form::Sorted);
  EXPECT_EQ(deterministicFormOf("aten::cumsum", "scan_kernel"), Form::Missing);
  EXPECT_EQ(deterministicFormOf("aten::convolution_backward", "volta_sgemm_64x64_nt"),
            Form::Unknown);
  EXPECT_EQ(deterministicFormOf("aten::convolution_backward", "winogradWgradData4x4"), Form::Same);
  EXPECT_EQ(deterministicFormOf("aten::addmm", "volta_sgemm_64x64_nt"), Form::Same);
}

TEST(Determinism, MakesSlowerKernelsSlower) {
  const jobsim::Job job = dataParallelJob({});
  expectNear(withKernel(job, "backward_gemm", kIndexAdd),
             withKernel(job, "backward_gemm", kIndexAdd, 250),
             {determinism({.factor = 2.5})});
}

// 3.34 times, and at most 23.95 times as long; the kernels are all but the whole path.
TEST(Determinism, HasAWideIntervalWithoutAFactor) {
  const jobsim::Job job = dataParallelJob({});
  const SimulatedJob simulated(withKernel(job, "backward_gemm", kIndexAdd));
  const Answer answer = ask(simulated, {determinism({})});
  const double truth = test::meanNs(SimulatedJob(withKernel(job, "backward_gemm", kIndexAdd, 334)));
  EXPECT_NEAR(answer.predictedNs / truth, 1, 0.01);
  EXPECT_GT(answer.highNs,
            test::meanNs(SimulatedJob(withKernel(job, "backward_gemm", kIndexAdd, 2'000))));
  EXPECT_THAT(answer.notes.front(), HasSubstr("192 kernels"));  // 4 ranks, 6 iterations, 8 layers
  EXPECT_THAT(answer.notes.front(), HasSubstr("3.34 times"));
}

TEST(Determinism, KnowsKernelsByTheirOperator) {
  const auto within = [](const char* op, int percent) {
    jobsim::Job job = withKernel(dataParallelJob({}), "forward_gemm", "k", percent);
    for (jobsim::Thread& thread : job.threads) {
      std::vector<jobsim::Op> program;
      for (const jobsim::Op& each : thread.program) {
        const auto* launch = std::get_if<jobsim::Launch>(&each);
        if (launch == nullptr || launch->name != "k")
          program.push_back(each);
        else
          program.insert(program.end(),
                         {jobsim::Begin{jobsim::Scope::Operator, op}, each, jobsim::End{}});
      }
      thread.program = std::move(program);
    }
    return job;
  };
  expectNear(within("aten::index_add_", 100),
             within("aten::index_add_", 300),
             {determinism({.factor = 3})});
  const Answer answer = ask(SimulatedJob(within("aten::addmm", 100)), {determinism({.factor = 3})});
  EXPECT_EQ(answer.predictedNs, answer.baselineNs);
}

TEST(Determinism, AnswersThatNothingIsSlower) {
  const Answer answer = ask(SimulatedJob(dataParallelJob({})), {determinism({.factor = 2})});
  EXPECT_EQ(answer.predictedNs, answer.baselineNs);
  EXPECT_THAT(answer.notes.front(), HasSubstr("nothing in this job is known to be slower"));
}

TEST(Determinism, LeavesConvolutionsOfUnknownAlgorithmToTheUser) {
  const jobsim::Job job = dataParallelJob({});
  const jobsim::Job now = withKernel(job, "backward_gemm", "sm80_xmma_wgrad_implicit_gemm");
  const Answer kept = ask(SimulatedJob(now), {determinism({})});
  EXPECT_EQ(kept.predictedNs, kept.baselineNs);
  EXPECT_THAT(kept.notes,
              ElementsAre(HasSubstr("nothing in this job"), HasSubstr("convolutions=")));
  expectNear(now,
             withKernel(job, "backward_gemm", "sm80_xmma_wgrad_implicit_gemm", 150),
             {determinism({.convolutions = 1.5})});
}

TEST(Determinism, NamesOperatorsThatHaveNoDeterministicForm) {
  const jobsim::Job job =
      withKernel(dataParallelJob({}), "adam", "at::native::kernelHistogram1D<float>");
  const Answer answer = ask(SimulatedJob(job), {determinism({.factor = 2})});
  EXPECT_EQ(answer.predictedNs, answer.baselineNs);
  EXPECT_THAT(answer.notes.back(), HasSubstr("24 kernels"));  // one in each iteration of a rank
  EXPECT_THAT(answer.notes.back(), HasSubstr("warn_only"));
}

// A thread whose waits the trace does not show ends its iterations as early as now.
TEST(Determinism, NotesThatKernelsTakeLongerThanAnIteration) {
  jobsim::Job job = jobsim::machinesFor(1, 1, 1);
  jobsim::Thread thread{0, "python3", {}};
  for (int i = 0; i < 4; ++i)
    jobsim::append(thread.program,
                   {jobsim::Begin{jobsim::Scope::Iteration, "step"},
                    jobsim::Launch{kIndexAdd, 10'000, 0, 300'000},
                    jobsim::Compute{"host", 290'000},
                    jobsim::End{}});
  job.threads = {thread};
  const SimulatedJob simulated(job);
  const Answer now = ask(simulated, {determinism({.factor = 1})});
  EXPECT_EQ(now.notes.size(), 1U);
  const Answer answer = ask(simulated, {determinism({.factor = 2})});
  EXPECT_NEAR(answer.predictedNs, answer.baselineNs, 1);
  EXPECT_THAT(answer.notes.back(), HasSubstr("then take 0.6 ms on one stream"));
}

TEST(Determinism, NeedsKernelsAndAFactorOfOneOrMore) {
  EXPECT_EQ(refusal(jobsim::hostDataParallelJob({}), determinism({})), ErrorCode::NotFound);
  for (const Determinism& of : {Determinism{.factor = 0.5}, Determinism{.convolutions = 0}})
    EXPECT_EQ(refusal(dataParallelJob({}), determinism(of)), ErrorCode::InvalidArgument);
}

}  // namespace
}  // namespace sonde::engine::whatif
