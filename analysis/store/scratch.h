// Unfinished files that must not outlive the program: a signal that ends it (Ctrl-C, SIGTERM,
// SIGHUP, a closed reader) removes them first. Any thread, any number at a time.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace sonde::store {

class Scratch {
 public:
  // Removes in this order; an empty folder counts as a file; missing ones are skipped.
  explicit Scratch(std::vector<std::string> paths);
  ~Scratch();  // from now on the files stay
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // Sets a function that such a signal calls before it ends the program. Requires:
  // async-signal-safe.
  static void callBeforeTheEnd(void (*what)() noexcept) noexcept;

 private:
  struct Paths;
  friend struct ScratchEnding;

  Paths* paths_;
};

// Delays such a signal during its lifetime: for short work that must happen completely or not at
// all. One at a time.
class EndingHeld {
 public:
  EndingHeld() noexcept;
  ~EndingHeld();  // ends the program if a signal has come
  EndingHeld(const EndingHeld&) = delete;
  EndingHeld& operator=(const EndingHeld&) = delete;
};

// The files of a trace under construction, including those of SQLite and the finaliser.
std::vector<std::string> traceFiles(const std::filesystem::path& trace);

// The files of OUTPUT.part that a verb is about to create. Empty if it exists and belongs to
// somebody else, since it may not be replaced.
std::vector<std::string> unfinishedTrace(const std::filesystem::path& output, bool replace);

// A temporary trace, alone in a folder, with its `.part`; and the folder.
std::unique_ptr<Scratch> temporaryTrace(const std::filesystem::path& folder,
                                        const std::filesystem::path& trace);

}  // namespace sonde::store
