// Files that must not outlive this program unfinished: a signal that ends it (Ctrl-C, SIGTERM,
// SIGHUP, a reader that has gone away) removes them first. Any thread, and as many as there are at
// a time.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace sonde::store {

class Scratch {
 public:
  // In this order, an empty folder like a file; what does not exist is passed over.
  explicit Scratch(std::vector<std::string> paths);
  ~Scratch();  // from now on they stay
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // What such a signal has called before it ends the program. Requires: async-signal-safe.
  static void callBeforeTheEnd(void (*what)() noexcept) noexcept;

 private:
  struct Paths;
  friend struct ScratchEnding;

  Paths* paths_;
};

// While it lives such a signal waits: for what is to happen as a whole or not at all, and soon. One
// at a time.
class EndingHeld {
 public:
  EndingHeld() noexcept;
  ~EndingHeld();  // ends the program, if a signal has come
  EndingHeld(const EndingHeld&) = delete;
  EndingHeld& operator=(const EndingHeld&) = delete;
};

// A trace under construction, with the files that SQLite and the finaliser have beside it.
std::vector<std::string> traceFiles(const std::filesystem::path& trace);

// Those of OUTPUT.part, which a verb is about to make; none when it is there already and somebody
// else's, because it may not be replaced.
std::vector<std::string> unfinishedTrace(const std::filesystem::path& output, bool replace);

// A trace that is made for the time being, alone in a folder, with its `.part`; and the folder.
std::unique_ptr<Scratch> temporaryTrace(const std::filesystem::path& folder,
                                        const std::filesystem::path& trace);

}  // namespace sonde::store
