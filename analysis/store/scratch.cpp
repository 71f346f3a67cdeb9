#include "analysis/store/scratch.h"

#include "analysis/store/trace_name.h"
#include "analysis/store/trace_part.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <mutex>
#include <system_error>
#include <utility>

namespace sonde::store {

// Never freed: a handler may be reading them on another thread.
struct Scratch::Paths {
  std::vector<std::string> paths;
  std::atomic<bool> unfinished{true};
  Paths* next = nullptr;
};

struct ScratchEnding {
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
  static inline std::atomic<Scratch::Paths*> newest{nullptr};
  static inline std::atomic<void (*)() noexcept> beforeTheEnd{nullptr};

  enum State : int { Running, Held, Ending };
  static inline std::atomic<int> state{Running};
  static inline std::atomic<int> waiting{0};  // the signal that came while it was Held

  static void onSignal(int signal) {
    int now = Running;
    if (!state.compare_exchange_strong(now, Ending) && now == Held) {
      waiting = signal;
      now = Running;  // released meanwhile by a thread that may not have seen the signal
      state.compare_exchange_strong(now, Ending);
    }
    if (now == Running)
      removeAndEnd(signal);
  }

  static void hold() {
    for (int now = Running; !state.compare_exchange_strong(now, Held); now = Running)
      pause();  // another thread's handler is about to end the program
  }

  static void release() {
    state = Running;
    if (const int signal = waiting.exchange(0); signal != 0)
      onSignal(signal);
  }

  static void removeAndEnd(int signal) {
    for (const Scratch::Paths* each = newest.load(); each != nullptr; each = each->next) {
      if (!each->unfinished.load())
        continue;
      for (const std::string& path : each->paths)
        if (unlink(path.c_str()) != 0)
          rmdir(path.c_str());
    }
    if (const auto what = beforeTheEnd.load(); what != nullptr)
      what();
    // Ends by the signal itself, so that a shell sees the cause.
    std::signal(signal, SIG_DFL);
    raise(signal);
  }

  static void handle(void (*was)(int), void (*handler)(int)) {
    for (const int signal : kSignals) {
      struct sigaction is {};
      sigaction(signal, nullptr, &is);
      if (is.sa_handler == was)  // an ignored signal (nohup) stays ignored
        std::signal(signal, handler);
    }
  }

  static void count(int change) {
    static std::mutex mutex;
    static int number = 0;
    const std::lock_guard lock(mutex);
    number += change;
    number > 0 ? handle(SIG_DFL, onSignal) : handle(onSignal, SIG_DFL);
  }
};

Scratch::Scratch(std::vector<std::string> paths) : paths_(new Paths{std::move(paths)}) {
  paths_->next = ScratchEnding::newest.load();
  while (!ScratchEnding::newest.compare_exchange_weak(paths_->next, paths_)) {
  }
  ScratchEnding::count(1);
}

Scratch::~Scratch() {
  paths_->unfinished = false;
  ScratchEnding::count(-1);
}

EndingHeld::EndingHeld() noexcept {
  ScratchEnding::hold();
}

EndingHeld::~EndingHeld() {
  ScratchEnding::release();
}

void Scratch::callBeforeTheEnd(void (*what)() noexcept) noexcept {
  ScratchEnding::beforeTheEnd = what;
}

std::vector<std::string> traceFiles(const std::filesystem::path& trace) {
  std::vector<std::string> files;
  for (const char* copy : {"", ".new"})
    for (const std::filesystem::path& file : filesOf(trace.string() + copy))
      files.push_back(file.string());
  return files;
}

std::vector<std::string> unfinishedTrace(const std::filesystem::path& output, bool replace) {
  std::error_code ignored;
  const std::filesystem::path part = partOf(output);
  if (isBeingWritten(part) || (!replace && std::filesystem::exists(part, ignored)))
    return {};
  return traceFiles(part);
}

std::unique_ptr<Scratch> temporaryTrace(const std::filesystem::path& folder,
                                        const std::filesystem::path& trace) {
  std::vector<std::string> paths = unfinishedTrace(trace, true);
  const std::vector<std::string> finished = traceFiles(trace);
  paths.insert(paths.end(), finished.begin(), finished.end());
  paths.push_back(folder.string());
  return std::make_unique<Scratch>(std::move(paths));
}

}  // namespace sonde::store
