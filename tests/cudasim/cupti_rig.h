#pragma once
// For tests that are a CUDA program and CUPTI's client at once. Each runs in a separate process,
// with the variant that LD_LIBRARY_PATH names.

#include "tests/cudasim/client/client.h"
#include "tests/cudasim/client/decode.h"
#include "tests/cudasim/cudasim.h"
#include "tests/support/in_child.h"
#include "tests/support/run_program.h"

#include <cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#define CU(call) ASSERT_EQ(call, CUDA_SUCCESS) << #call
#define CUPTI(call) ASSERT_EQ(cupti().call, CUPTI_SUCCESS) << #call

namespace cudasim_test {

using nlohmann::json;

class CuptiRig : public testing::Test {
 protected:
  static constexpr size_t kBuffer = 1 << 16;

  // Runs `body` with these kinds enabled before cuInit, and a context on each device.
  void inProcess(const std::vector<CUpti_ActivityKind>& kinds, const std::function<void()>& body) {
    EXPECT_TRUE(sonde::test::inChild([&] {
      setenv("CUDASIM_TRUTH", truthPath().c_str(), 1);
      int version = 0;
      cuDriverGetVersion(&version);
      cudasim_client::load(version / 1000);
      cudasim_client::listen(kBuffer);
      CUPTI(SetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));  // as in the truth
      for (const CUpti_ActivityKind kind : kinds) {
        CUPTI(ActivityEnable(kind));
      }
      CU(cuInit(0));
      for (CUcontext& context : contexts_) {
        CU(cuCtxCreate_v4(&context, nullptr, 0, static_cast<int>(&context - contexts_)));
      }
      CU(cuCtxSetCurrent(contexts_[0]));
      body();
    }));
  }

  static const cudasim_client::Cupti& cupti() { return cudasim_client::load(0); }
  CUcontext context(int device) const { return contexts_[device]; }
  std::string truthPath() const { return folder_ / "truth"; }
  std::vector<json> truth() const {
    cudasimFlushTruth();
    return cudasim_client::readLines(truthPath());
  }

  // All records so far.
  const std::vector<json>& records() {
    for (json& record : cudasim_client::takeRecords()) {
      records_.push_back(std::move(record));
    }
    return records_;
  }
  std::vector<json> records(const std::string& kind) {
    std::vector<json> of;
    for (const json& record : records()) {
      if (record["kind"] == kind) {
        of.push_back(record);
      }
    }
    return of;
  }

  // After a flush: the client has exactly the records that CUPTI must deliver.
  void expectTruth() {
    using cudasim_client::sorted;
    EXPECT_EQ(sorted(records()), sorted(cudasim_client::owed(truth())));
  }

  static void launch(CUstream stream, const char* name, uint64_t ns) {
    CU(cuLaunchKernel(cudasimFunction(name, ns), 2, 3, 4, 32, 2, 1, 0, stream, nullptr, nullptr));
  }

 private:
  sonde::test::TemporaryFolder folder_;
  CUcontext contexts_[2] = {};
  std::vector<json> records_;
};

}  // namespace cudasim_test
