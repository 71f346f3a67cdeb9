// The threads of a process: their rows, by their number in the spool and by their kernel id, and
// their stored state.
//
// Part of one ImageBuilder, on its thread.
#pragma once

#include "analysis/ingest/spool/image_context.h"
#include "collector/wire/definitions.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sonde::ingest {

class ThreadRows {
 public:
  explicit ThreadRows(ImageContext& image) : image_(image) {}

  void define(const wire::ThreadDefinition& definition);
  void defineName(const wire::ThreadNameDefinition& definition);

  // The thread with this number. Creates it if it is undefined.
  ImageThread& threadOf(std::uint32_t index);
  // The row of the thread with this kernel id that ran at `ns`. Creates it for an unknown thread.
  model::ThreadId rowOf(std::int32_t tid, std::int64_t ns);

  // Threads that may still write, and those that wrote since the last save(). The trace has the
  // state of the others.
  using Threads = std::unordered_map<std::uint32_t, std::unique_ptr<ImageThread>>;
  const Threads& recent() const noexcept { return threads_; }

  void save();
  // Restore the state that an earlier recorder stored; call restoreCalled() last.
  void restore(std::uint32_t index, std::string_view blob);
  void restoreCalled(std::int64_t tid, model::ThreadId row);
  void dropEnded();

 private:
  struct OfTid {
    std::int64_t startNs = 0;
    model::ThreadId row{};
    bool isOnlyCalled = false;  // known only from calls
  };

  ImageThread& add(const wire::ThreadDefinition& definition);
  void noteTid(const ImageThread& thread);
  void save(ImageThread& thread);
  std::unique_ptr<ImageThread> unpack(std::string_view blob) const;

  ImageContext& image_;
  Threads threads_;
  // The threads with one kernel id, by start: ids may be reused.
  std::unordered_map<std::int64_t, std::vector<OfTid>> byTid_;
};

}  // namespace sonde::ingest
