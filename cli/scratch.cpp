#include "cli/scratch.h"

#include "analysis/store/trace_name.h"
#include "cli/progress_bar.h"

#include <unistd.h>

#include <csignal>
#include <system_error>
#include <utility>

namespace sonde::cli {
namespace {

constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

// What the handler reads; only changed while its signals are blocked.
std::vector<std::string>& scratch() {
  static auto* const kPaths = new std::vector<std::string>;
  return *kPaths;
}

void removeAndEnd(int signal) {
  for (const std::string& path : scratch())
    if (unlink(path.c_str()) != 0)
      rmdir(path.c_str());
  eraseBarInHandler();
  // By the signal itself, so that a shell sees what has ended it.
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void replaceScratch(std::vector<std::string> paths) {
  sigset_t ending;
  sigset_t before;
  sigemptyset(&ending);
  for (const int signal : kEnding)
    sigaddset(&ending, signal);
  pthread_sigmask(SIG_BLOCK, &ending, &before);
  scratch() = std::move(paths);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

Scratch::Scratch(std::vector<std::string> paths) {
  replaceScratch(std::move(paths));
  for (const int signal : kEnding) {
    struct sigaction was {};
    sigaction(signal, nullptr, &was);
    if (was.sa_handler == SIG_DFL)  // what is ignored (nohup) stays ignored
      std::signal(signal, removeAndEnd);
  }
}

Scratch::~Scratch() {
  replaceScratch({});
  for (const int signal : kEnding) {
    struct sigaction is {};
    sigaction(signal, nullptr, &is);
    if (is.sa_handler == removeAndEnd)
      std::signal(signal, SIG_DFL);
  }
}

std::vector<std::string> traceFiles(const std::filesystem::path& trace) {
  std::vector<std::string> files;
  for (const char* copy : {"", ".new"})
    for (const std::filesystem::path& file : store::filesOf(trace.string() + copy))
      files.push_back(file.string());
  return files;
}

std::vector<std::string> unfinishedTrace(const std::filesystem::path& output, bool replace) {
  std::error_code ignored;
  const std::filesystem::path part = store::partOf(output);
  if (!replace && std::filesystem::exists(part, ignored))
    return {};
  return traceFiles(part);
}

}  // namespace sonde::cli
