// Shows the recorder the calls that the calling thread is in, so that a call that never returns is
// in the trace. The thread's slot holds a copy of the record that the call will become
// (wire::OpenCalls). Linked into libsonde_preload.so only.
//
// A probe brackets a call that may block:
//
//   const core::OpenCall open =
//       core::openCall(record, wire::RecordKind::Transfer, __builtin_frame_address(0));
//   … the call …
//   core::closeCall(open);
//
// A call that an exception, a cancellation or longjmp leaves is never closed. Its frame reveals
// that. The frame is that of the wrapper, or of the function that the wrapper calls to begin.
// Everything that the call does runs below it, so the next call at or above that frame finds that
// the call was left.
//
// Any thread and signal handlers may call. No function allocates, locks or changes errno, nor makes
// a system call once the thread has a slot. A call that cannot be shown (no room, a handler inside
// a write, too deep) is left out and not counted: the record written at its end is independent of
// that.
#pragma once

#include "collector/wire/spool_format.h"

#include <cstdint>

namespace sonde::core {

// The handle for closeCall(): the thread's depth at the call. kNotShown: nothing to close.
struct OpenCall {
  static constexpr std::uint32_t kNotShown = ~std::uint32_t{0};
  std::uint32_t depth = kNotShown;
};

// `record` is of `kind` and `bytes` long; the caller need not set its header's size and kind.
OpenCall openRecord(const void* record,
                    std::uint32_t bytes,
                    wire::RecordKind kind,
                    const void* frame) noexcept;

template <typename Record>
OpenCall openCall(const Record& record, wire::RecordKind kind, const void* frame) noexcept {
  static_assert(sizeof(Record) <= wire::OpenCalls::kRecordBytes);
  return openRecord(&record, sizeof record, kind, frame);
}

// The call has returned, and so have all calls opened later on this thread.
void closeCall(OpenCall call) noexcept;

// The open calls that a thread takes to its next slot. Requires: the guard.
struct OpenCallCopy {
  std::uint32_t depth = 0;
  unsigned char records[wire::OpenCalls::kMost][wire::OpenCalls::kRecordBytes];  // `depth` of them
};
void copyOpenCalls(const wire::OpenCalls& from, OpenCallCopy& to) noexcept;
void setOpenCalls(wire::OpenCalls& to, const OpenCallCopy& from) noexcept;

}  // namespace sonde::core
