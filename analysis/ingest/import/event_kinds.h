// The meanings of trace events' categories and names. Free functions; any thread.
#pragma once

#include "analysis/model/words.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace sonde::ingest {

// The table for an event with a duration.
enum class EventTable : std::uint8_t { Slice, Kernel, Copy, Sync, Nowhere };
EventTable tableOf(std::string_view category) noexcept;

// Whether it is a CUDA or HIP call.
bool isApiName(std::string_view name) noexcept;
// Whether it is a call that starts device work: "cudaLaunchKernel", "hipMemcpyWithStream".
bool isLaunchName(std::string_view name) noexcept;
// Whether it is PyTorch's name of an operator or autograd node: "aten::mm", "AddmmBackward0".
bool isOperatorName(std::string_view name) noexcept;

// Without a category only the name identifies operators and calls. Requires: tableOf() is Slice.
model::SliceKind sliceKindOfEvent(std::string_view category, std::string_view name) noexcept;

// "Memcpy HtoD (Pageable -> Device)", "Memset (Device)", "CopyHostToDevice".
model::CopyKind copyKindOf(std::string_view category, std::string_view name) noexcept;
// Whether the host memory is page-locked: "Memcpy HtoD (Pinned -> Device)". Unset: the name has
// neither word, or both.
std::optional<bool> pinnedOf(std::string_view copyName) noexcept;
// The kind that a word of `copy.kind` stands for.
std::optional<model::CopyKind> copyKindOfWord(std::string_view word) noexcept;
// "Stream Sync", "Stream Wait Event".
model::SyncKind syncKindOf(std::string_view name) noexcept;

// The N of "ProfilerStep#N".
std::optional<std::int64_t> profilerStep(std::string_view name) noexcept;

// The operation of an NCCL or RCCL kernel, from the name of the call ("allreduce",
// "_allgather_base") or of the kernel ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(…)"). Unset: not a
// collective.
std::optional<model::CollectiveOp> collectiveOf(std::string_view name) noexcept;
// "Float", "BFloat16", "c10::Half".
model::DataType dataTypeOf(std::string_view name) noexcept;
std::int64_t bytesOf(model::DataType type) noexcept;  // 0: unknown

}  // namespace sonde::ingest
