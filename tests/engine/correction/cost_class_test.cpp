// The cost class of a slice.
#include "analysis/engine/correction/cost_class.h"

#include <gtest/gtest.h>

namespace sonde::engine::correction {
namespace {

using model::SliceKind;

TEST(CostClassOf, ACallThatOpensAFileIsNotLikeOneOnAnOpenFile) {
  for (const char* call : {"open", "fopen", "freopen"})
    EXPECT_TRUE(opensFile(call)) << call;
  for (const char* call : {"read", "fdopen", "fclose", "pidfd_open", "reopen", ""})
    EXPECT_FALSE(opensFile(call)) << call;
  EXPECT_EQ(costClassOf(SliceKind::Io, "io", {.opens = true}), (CostClass{"io", "open"}));
  EXPECT_EQ(costClassOf(SliceKind::Io, "io", {}), (CostClass{"io", "call"}));
  EXPECT_EQ(costClassOf(SliceKind::Wait, "sync", {.opens = true}), (CostClass{"sync", "wait"}))
      << "to open a FIFO is to wait";
}

TEST(CostClassOf, ACallThatLaunchesWorkIsNotLikeAnyOtherOfCuda) {
  for (const char* call : {"cudaLaunchKernel",
                           "cuLaunchKernelEx",
                           "cudaGraphLaunch_v10000",
                           "cudaMemcpyAsync",
                           "cuMemsetD8Async"})
    EXPECT_TRUE(launchesWork(call)) << call;
  for (const char* call : {"cudaEventRecord",
                           "cudaStreamSynchronize",
                           "cudaMalloc",
                           "cudaGraphAddMemcpyNode",
                           "cudaLaunchHostFunc",
                           ""})
    EXPECT_FALSE(launchesWork(call)) << call;
  EXPECT_EQ(costClassOf(SliceKind::Api, "cuda_driver", {.launches = true}),
            (CostClass{"cuda", "launch"}));
  EXPECT_EQ(costClassOf(SliceKind::Api, "cuda_runtime", {}), (CostClass{"cuda", "call"}));
  EXPECT_EQ(costClassOf(SliceKind::Api, "my-probe", {.launches = true}),
            (CostClass{"plugin", "call"}));
}

TEST(CostClassOf, AnAnnotationCostsMoreInPython) {
  EXPECT_EQ(costClassOf(SliceKind::Operation, "annotation", {.inPython = true}),
            (CostClass{"annotation", "scope in Python"}));
  EXPECT_EQ(costClassOf(SliceKind::Operation, "annotation", {}),
            (CostClass{"annotation", "scope"}));
}

TEST(CostClassOf, WhatNobodyInTheProcessRecordedHasNone) {
  EXPECT_EQ(costClassOf(SliceKind::Api, "overhead", {}), std::nullopt);
  EXPECT_EQ(costClassOf(SliceKind::Api, "unified_memory", {}), std::nullopt);
}

TEST(CostClassOf, AForkIsNoEventOfAPlugin) {
  EXPECT_EQ(costClassOf(SliceKind::Mark, "process", {}), std::nullopt);
  EXPECT_EQ(costClassOf(SliceKind::Mark, "my-probe", {}), (CostClass{"plugin", "mark"}));
}

}  // namespace
}  // namespace sonde::engine::correction
