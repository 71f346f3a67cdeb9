#include "analysis/model/communication_names.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace sonde::model {
namespace {

constexpr CommunicationPattern kPatterns[] = {
    {"nccl*", "NCCL"},
    {"rccl*", "RCCL"},
    {"msccl*", "MSCCL, MSCCL++"},
    {"oneccl*", "oneCCL"},
    {"hccl*", "HCCL"},
    {"hcom_*", "HCCL"},
    {"nvshmem*", "NVSHMEM"},
    {"*::nvshmem*", "NVSHMEM"},
    {"rocshmem*", "rocSHMEM"},
    {"deep_ep::int*", "DeepEP: intranode, internode, internode_ll"},
    {"uccl::*", "UCCL"},
    {"mori::*", "MoRI"},
    {"pplx::*dispatch*", "pplx-kernels"},
    {"pplx::*combine*", "pplx-kernels"},
    {"*moea2a*", "TensorRT-LLM"},
    {"*cross_device_reduce*", "vLLM, SGLang, AITER"},
    {"*quickreduce::*", "vLLM, AITER"},
    {"multimem_*", "PyTorch's symmetric memory"},
    {"*::multimem_*", "PyTorch's symmetric memory"},
    {"c10d::symmetric_memory::*", "PyTorch's symmetric memory"},
    {"*userbuffers_*", "Transformer Engine"},
    {"*allreduce*", "FlashInfer, TensorRT-LLM and others"},
    {"*all_reduce*", "the same"},
    {"*allgather*", "the same"},
    {"*all_gather*", "the same"},
    {"*reducescatter*", "the same"},
    {"*reduce_scatter*", "the same"},
    {"*alltoall*", "the same"},
    {"*all_to_all*", "the same"},
};

// Reductions among the threads of one device have such names, too.
constexpr std::string_view kOnDevice[] = {"*warpall*",
                                          "*warp_all*",
                                          "*blockall*",
                                          "*block_all*",
                                          "*ctaall*",
                                          "*cta_all*",
                                          "*groupall*",
                                          "*thread_all*",
                                          "*threadall*"};

char lower(char c) noexcept {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

}  // namespace

std::span<const CommunicationPattern> communicationPatterns() noexcept {
  return kPatterns;
}

bool fitsPattern(std::string_view pattern, std::string_view text) noexcept {
  std::size_t at = 0;
  std::size_t in = 0;
  std::size_t star = pattern.npos;  // the last one, and how much text it matches
  std::size_t taken = 0;
  while (in < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      taken = in;
    } else if (at < pattern.size() &&
               (pattern[at] == '?' || lower(pattern[at]) == lower(text[in]))) {
      ++at;
      ++in;
    } else if (star != pattern.npos) {
      at = star + 1;
      in = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == pattern.npos;
}

std::string functionOfKernel(std::string_view kernelName) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  std::string name(kernelName);
  for (std::size_t at = name.find(kAnonymous); at != name.npos; at = name.find(kAnonymous))
    name.erase(at, kAnonymous.size());
  name.resize(std::min(name.find_first_of("<("), name.size()));
  for (const std::string_view word : {"static ", "__global__ ", "void "})
    if (name.starts_with(word))
      name.erase(0, word.size());
  return name;
}

bool isCommunicationKernel(std::string_view kernelName) {
  const std::string function = functionOfKernel(kernelName);
  const bool isOnDevice =
      std::any_of(std::begin(kOnDevice), std::end(kOnDevice), [&](std::string_view pattern) {
        return fitsPattern(pattern, function);
      });
  return !isOnDevice &&
         std::any_of(std::begin(kPatterns), std::end(kPatterns), [&](const auto& each) {
           return fitsPattern(each.pattern, function);
         });
}

}  // namespace sonde::model
