#include "analysis/ingest/nsight/nsight_calls.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace sonde::ingest {
namespace {

using Column = NsightTable::Column;
using Type = NsightTable::Type;

// Columns common to all tables of calls.
enum CallColumn : std::size_t { Start, End, Thread, Name, Correlation, Status };
constexpr std::array<Column, 6> kCall = {{{"start", Type::Integer, true},
                                          {"end"},
                                          {"globalTid", Type::Integer, true},
                                          {"nameId"},
                                          {"correlationId"},
                                          {"returnValue"}}};

Result<void> addCall(NsightContext& context,
                     const NsightTable& row,
                     const NsightContext::Span& span,
                     const model::Slice& slice) {
  SONDE_TRY_ASSIGN(const model::SliceId id, context.addSlice(slice, *row.integer(Thread), span));
  const model::OptionalInt status = row.integer(Status);
  return status && *status != 0 ? context.addArg(id, "return_value", *status) : Result<void>();
}

Result<void> api(NsightContext& context, const NsightTable& row) {
  const auto span = context.spanOf(row.integer(Start), row.integer(End));
  if (!span)
    return {};
  model::Slice slice;
  slice.kind = model::SliceKind::Api;
  SONDE_TRY_ASSIGN(const NsightNames::Name* const name, context.names.find(row.integer(Name)));
  slice.nameId = name->id;
  slice.category = name->text.starts_with("cuda") ? "cuda_runtime" : "cuda_driver";
  slice.correlationId = row.integer(Correlation);
  return addCall(context, row, *span, slice);
}

// Whether the call moves bytes, or opens their channel; all other traced calls can block.
bool isIo(std::string_view call) noexcept {
  constexpr std::array<std::string_view, 16> kParts = {"read",
                                                       "write",
                                                       "open",
                                                       "close",
                                                       "send",
                                                       "recv",
                                                       "accept",
                                                       "connect",
                                                       "fsync",
                                                       "fgets",
                                                       "fputs",
                                                       "fputc",
                                                       "fgetc",
                                                       "fflush",
                                                       "ioctl",
                                                       "splice"};
  return call.find("thread") == std::string_view::npos &&  // the "read" in "pthread" does not count
         std::any_of(kParts.begin(), kParts.end(), [&](std::string_view part) {
           return call.find(part) != std::string_view::npos;
         });
}

Result<void> systemCall(NsightContext& context, const NsightTable& row) {
  const auto span = context.spanOf(row.integer(Start), row.integer(End));
  if (!span)
    return {};
  model::Slice slice;
  slice.category = "osrt";
  SONDE_TRY_ASSIGN(const NsightNames::Name* const name, context.names.find(row.integer(Name)));
  slice.nameId = name->id;
  slice.kind = isIo(name->text) ? model::SliceKind::Io : model::SliceKind::Wait;
  SONDE_TRY(context.addSlice(slice, *row.integer(Thread), *span));
  return {};
}

// A call of a library, or of the profiler itself.
Result<void> call(NsightContext& context, const NsightTable& row, std::string_view category) {
  const auto span = context.spanOf(row.integer(Start), row.integer(End));
  if (!span)
    return {};
  model::Slice slice;
  slice.kind = model::SliceKind::Api;
  slice.category = category;
  SONDE_TRY_ASSIGN(slice.nameId, context.names.id(row.integer(Name)));
  return addCall(context, row, *span, slice);
}

}  // namespace

Result<void> importNsightCalls(NsightContext& context) {
  const auto each = [&](auto handler) {
    return [&context, handler](const NsightTable& row) { return handler(context, row); };
  };
  SONDE_TRY(context.read("CUPTI_ACTIVITY_KIND_RUNTIME", kCall, "cuda_api", each(api)));
  SONDE_TRY(context.read("OSRT_API", kCall, "osrt", each(systemCall)));
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kCalls = {
      {{"CUBLAS_EVENTS", "cublas"}, {"CUDNN_EVENTS", "cudnn"}, {"PROFILER_OVERHEAD", "overhead"}}};
  for (const auto& [table, category] : kCalls)
    SONDE_TRY(context.read(table, kCall, category, [&, name = category](const NsightTable& row) {
      return call(context, row, name);
    }));
  return {};
}

}  // namespace sonde::ingest
