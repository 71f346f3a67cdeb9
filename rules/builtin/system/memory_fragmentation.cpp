#include "analysis/engine/memory/reserved_memory.h"
#include "rules/builtin/system/gpu_use.h"
#include "rules/builtin/system/system_rules.h"

#include <fmt/format.h>

#include <string>

namespace sonde::rules {
namespace {

using engine::metrics::ReservedMemory;

double shareOfBytes(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string largestWords(const ReservedMemory& memory) {
  return memory.largestFreeBytes ? fmt::format("; the largest free block has {:.1f} MB",
                                               static_cast<double>(*memory.largestFreeBytes) / 1e6)
                                 : "";
}

Outcome judgeReserved(const ReservedMemory& memory, const Parameters& parameters) {
  Outcome outcome;
  outcome.samples = 1;
  outcome.value = shareOfBytes(memory.freeBytes(), memory.reservedBytes);
  outcome.threshold = parameters.real("max_share");
  outcome.time = TimeRange{memory.ns, memory.ns};
  const bool isMuch =
      *outcome.value > *outcome.threshold && memory.freeBytes() >= parameters.integer("min_bytes");
  // One large block can still serve any request.
  const bool isInPieces =
      !memory.largestFreeBytes ||
      shareOfBytes(*memory.largestFreeBytes, memory.freeBytes()) < parameters.real("min_largest");
  outcome.verdict = isMuch && isInPieces ? Verdict::Fired : Verdict::Pass;
  outcome.evidence = {{"device", memory.place},
                      {"reserved_bytes", memory.reservedBytes},
                      {"in_use_bytes", memory.inUseBytes},
                      {"free_bytes", memory.freeBytes()}};
  if (memory.largestFreeBytes)
    outcome.evidence["largest_free_bytes"] = *memory.largestFreeBytes;
  outcome.message =
      fmt::format("the allocator holds {:.1f} MB of {}, of which {:.1f} MB, {:.0f} %, are free{}",
                  static_cast<double>(memory.reservedBytes) / 1e6,
                  memory.place,
                  static_cast<double>(memory.freeBytes()) / 1e6,
                  100 * *outcome.value,
                  largestWords(memory));
  return outcome;
}

Outcome withoutReserved(const RankList& list, bool hasDevices) {
  Outcome outcome;
  if (!hasDevices && list.mayHave("cuda") && !list.sources.empty()) {
    outcome.verdict = Verdict::Skipped;
    outcome.message = "the job had no device";
    return outcome;
  }
  outcome.inputMissing = true;
  outcome.message =
      "the trace does not have the memory that the framework's allocator holds: import a snapshot "
      "of torch.cuda.memory._dump_snapshot(), or a file of torch.profiler with "
      "profile_memory=True";
  return outcome;
}

Result<std::vector<Finding>> judgeFragmentation(Facts& facts, const Parameters& parameters) {
  SONDE_TRY_ASSIGN(const auto all, engine::metrics::reservedMemory(facts.trace()));
  SONDE_TRY_ASSIGN(const RankList* const list, facts.of<RankList>());
  std::vector<Finding> findings;
  for (const ReservedMemory& memory : all)
    findings.push_back({list->nameOf(memory.processId, memory.rank, memory.pid),
                        judgeReserved(memory, parameters)});
  if (!findings.empty())
    return findings;
  SONDE_TRY_ASSIGN(const std::int64_t hasDevices,
                   facts.trace().queryInteger("SELECT EXISTS (SELECT 1 FROM device)"));
  return std::vector{Finding{"job", withoutReserved(*list, hasDevices != 0)}};
}

}  // namespace

RuleInfo memoryFragmentation() {
  RuleInfo info;
  info.name = "memory-fragmentation";
  info.profile = Profile::Ci;
  info.isOptional = true;
  info.summary = "the allocator holds much memory of a device that no tensor can use";
  info.details =
      "Compares the memory that PyTorch's caching allocator holds with the part in use: in files "
      "of torch.profiler when most\n"
      "was in use, in a memory snapshot when it was taken. Fires if more than `max_share` of it is "
      "free, and `min_bytes` or\n"
      "more. If the largest free block is known, it must also have less than `min_largest` of the "
      "free bytes: memory in one\n"
      "piece can serve any request.";
  info.hint =
      "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or max_split_size_mb; let shapes vary "
      "less, and allocate the largest first";
  info.next = {"sonde report TRACE --full"};
  info.parameters = {
      {"max_share", 0.3, "largest healthy share of the held memory that is free", 0, 1},
      {"min_bytes", std::int64_t{100'000'000}, "less free memory is healthy in any case", 0, 1e18},
      {"min_largest", 0.5, "healthy if one block has this share of the free memory", 0, 1},
  };
  info.judge = JobJudge(judgeFragmentation);
  return info;
}

}  // namespace sonde::rules
