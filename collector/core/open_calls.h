// Shows the recorder the calls that the calling thread is in, so that a call that never returns is
// in the trace: the thread's slot has a copy of the record that the call will become
// (wire::OpenCalls). Linked into libsonde_preload.so alone.
//
// A probe brackets a call that may block:
//
//   const core::OpenCall open =
//       core::openCall(record, wire::RecordKind::Transfer, __builtin_frame_address(0));
//   … the call …
//   core::closeCall(open);
//
// A call that an exception, a cancellation or longjmp leaves is never closed. The frame tells: it
// is that of the wrapper, or of the function that the wrapper calls to begin. All that the call
// does runs below it, so the next call at or above that frame finds it left.
//
// Any thread and signal handlers; nothing allocates, locks, makes a system call once the thread has
// a slot, or changes errno. Where the call cannot be shown (no room, a handler inside a write, too
// deep) it is left out, uncounted: the record that follows when the call ends is another matter.
#pragma once

#include "collector/wire/spool_format.h"

#include <cstdint>

namespace sonde::core {

// What closeCall() needs: how deep the thread was. kNotShown: there is nothing to close.
struct OpenCall {
  static constexpr std::uint32_t kNotShown = ~std::uint32_t{0};
  std::uint32_t depth = kNotShown;
};

// `record` is of `kind` and `bytes` long, its header's size and kind need not be set.
OpenCall openRecord(const void* record,
                    std::uint32_t bytes,
                    wire::RecordKind kind,
                    const void* frame) noexcept;

template <typename Record>
OpenCall openCall(const Record& record, wire::RecordKind kind, const void* frame) noexcept {
  static_assert(sizeof(Record) <= wire::OpenCalls::kRecordBytes);
  return openRecord(&record, sizeof record, kind, frame);
}

// The call has returned, and with it all that was opened later on this thread.
void closeCall(OpenCall call) noexcept;

// What a thread takes along to its next slot. Requires: the guard.
struct OpenCallCopy {
  std::uint32_t depth = 0;
  unsigned char records[wire::OpenCalls::kMost][wire::OpenCalls::kRecordBytes];  // `depth` of them
};
void copyOpenCalls(const wire::OpenCalls& from, OpenCallCopy& to) noexcept;
void setOpenCalls(wire::OpenCalls& to, const OpenCallCopy& from) noexcept;

}  // namespace sonde::core
