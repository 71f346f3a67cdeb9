// What the categories and names of trace events stand for. Free functions; any thread.
#pragma once

#include "analysis/model/words.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace sonde::ingest {

// Where an event with a duration goes.
enum class EventTable : std::uint8_t { Slice, Kernel, Copy, Sync, Nowhere };
EventTable tableOf(std::string_view category) noexcept;

// Whether it is one of CUDA's or HIP's calls.
bool isApiName(std::string_view name) noexcept;
// Whether it is a call that starts work on a device: "cudaLaunchKernel", "hipMemcpyWithStream".
bool isLaunchName(std::string_view name) noexcept;
// Whether PyTorch names an operator or a node of autograd so: "aten::mm", "AddmmBackward0".
bool isOperatorName(std::string_view name) noexcept;

// Without a category the name alone tells operators and calls. Requires: tableOf() is Slice.
model::SliceKind sliceKindOfEvent(std::string_view category, std::string_view name) noexcept;

// "Memcpy HtoD (Pageable -> Device)", "Memset (Device)", "CopyHostToDevice".
model::CopyKind copyKindOf(std::string_view category, std::string_view name) noexcept;
// Whether the memory of the host is page-locked: "Memcpy HtoD (Pinned -> Device)". None: it does
// not say so, or there are two of them.
std::optional<bool> pinnedOf(std::string_view copyName) noexcept;
// The kind that a word of `copy.kind` stands for.
std::optional<model::CopyKind> copyKindOfWord(std::string_view word) noexcept;
// "Stream Sync", "Stream Wait Event".
model::SyncKind syncKindOf(std::string_view name) noexcept;

// The N of "ProfilerStep#N".
std::optional<std::int64_t> profilerStep(std::string_view name) noexcept;

// Of NCCL's or RCCL's kernels, by the name of the call ("allreduce", "_allgather_base") or of the
// kernel ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(…)"). None: it is no collective.
std::optional<model::CollectiveOp> collectiveOf(std::string_view name) noexcept;
// "Float", "BFloat16", "c10::Half".
model::DataType dataTypeOf(std::string_view name) noexcept;
std::int64_t bytesOf(model::DataType type) noexcept;  // 0: unknown

}  // namespace sonde::ingest
