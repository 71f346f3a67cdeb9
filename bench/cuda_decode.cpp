// Measures how fast CUPTI's records are converted into Sonde's, in the spool: kernels of 64 names
// on four streams, and calls. Usage: cuda_decode [ROUNDS]. Each round decodes a million of each, in
// buffers of the probe's size, into a spool of its own in /dev/shm. Prints all rounds and the
// median.
#include "collector/preload/cuda/activity/cuda_decode.h"

#include "collector/core/attach.h"
#include "collector/preload/cuda/activity/cuda_buffers.h"
#include "tests/support/spool_folder.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace sonde::preload;
constexpr int kRecords = 1'000'000;
constexpr std::size_t kKernelBytes = 208;  // of CUpti_ActivityKernel9
constexpr int kNames = 64;

const std::vector<std::string>& names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> texts;
    for (int at = 0; at < kNames; ++at)
      texts.push_back(
          fmt::format("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctor"
                      "IfEESt5arrayIPcLm1EEEEviT0_T1_{}",
                      at));
    return texts;
  }();
  return all;
}

// Records of equal size, packed.
std::vector<std::uint8_t> kernels() {
  std::vector<std::uint8_t> buffer(cuda::kBufferBytes / kKernelBytes * kKernelBytes);
  for (std::size_t at = 0; at < buffer.size(); at += kKernelBytes) {
    const std::size_t number = at / kKernelBytes;
    cupti::KernelRecord record{};
    record.kind = cupti::Kind::ConcurrentKernel;
    record.start = 1'000'000 + number * 100;
    record.end = record.start + 50;
    record.contextId = 1;
    record.streamId = 7 + static_cast<std::uint32_t>(number % 4);
    record.correlationId = static_cast<std::uint32_t>(number);
    record.name = names()[number % kNames].c_str();
    std::memcpy(&buffer[at], &record, sizeof record);
  }
  return buffer;
}

std::vector<std::uint8_t> calls() {
  constexpr std::size_t kSize = sizeof(cupti::ApiRecord);
  std::vector<std::uint8_t> buffer(cuda::kBufferBytes / kSize * kSize);
  for (std::size_t at = 0; at < buffer.size(); at += kSize) {
    cupti::ApiRecord record{};
    record.kind = cupti::Kind::Runtime;
    record.cbid = 211;
    record.start = 1'000'000 + at;
    record.end = record.start + 30;
    record.threadId = 1;
    record.correlationId = static_cast<std::uint32_t>(at / kSize);
    std::memcpy(&buffer[at], &record, sizeof record);
  }
  return buffer;
}

double millionPerSecond(cuda::Decoder& decoder,
                        const std::vector<std::uint8_t>& buffer,
                        std::size_t size) {
  const auto begin = std::chrono::steady_clock::now();
  for (int done = 0; done < kRecords;) {
    decoder.beginBuffer();
    for (std::size_t at = 0; at < buffer.size() && done < kRecords; at += size, ++done)
      decoder.decode(reinterpret_cast<const cupti::Record*>(&buffer[at]));
    decoder.endBuffer();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return kRecords / took.count() / 1e6;
}

const char* callbackName(cupti::Domain, std::uint32_t) {
  return "cudaLaunchKernel_v7000";
}

// In a process of its own, since a process has only one spool.
void round() {
  const sonde::test::SpoolFolder folder(std::uint64_t{480} << 20, "/dev/shm");
  if (!sonde::core::attach(folder.path().c_str(), nullptr))
    std::exit(1);
  const auto decoder = std::make_unique<cuda::Decoder>();
  decoder->begin(cupti::kCuda128, callbackName);
  const double ofKernels = millionPerSecond(*decoder, kernels(), kKernelBytes);
  const double ofCalls = millionPerSecond(*decoder, calls(), sizeof(cupti::ApiRecord));
  fmt::print("{:.1f} {:.1f}\n", ofKernels, ofCalls);
}

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 11;
  fmt::print("million kernels/s, million calls/s\n");
  for (int at = 0; at < rounds; ++at) {
    std::fflush(stdout);
    if (const pid_t child = fork(); child == 0) {
      round();
      return 0;
    } else {
      waitpid(child, nullptr, 0);
    }
  }
  return 0;
}
