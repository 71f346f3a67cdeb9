// Files that must not outlive this program unfinished: a signal that ends it (Ctrl-C, SIGTERM,
// SIGHUP, a reader that has gone away) removes them first. Made and ended on the main thread, one
// at a time.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sonde::cli {

class Scratch {
 public:
  // In this order, an empty folder like a file; what does not exist is passed over.
  explicit Scratch(std::vector<std::string> paths);
  ~Scratch();  // from now on they stay
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
};

// A trace under construction, with the files that SQLite and the finaliser have beside it.
std::vector<std::string> traceFiles(const std::filesystem::path& trace);

// Those of OUTPUT.part, which a verb is about to make; none when it is there already and somebody
// else's, because it may not be replaced.
std::vector<std::string> unfinishedTrace(const std::filesystem::path& output, bool replace);

}  // namespace sonde::cli
