// The job's main process. It is forked immediately, so that its pid is known for the output's name.
// It runs only when released, so that nothing of the job has happened if the recording cannot
// begin. It stays in the recorder's process group and session and keeps its descriptors. Used on
// the main thread, before any other thread exists.
#pragma once

#include "base/result.h"
#include "recorder/launcher/signal_relay.h"

#include <sys/types.h>

#include <string>
#include <vector>

namespace sonde::launcher {

struct Program {
  std::string path;                    // from findCommand
  std::vector<std::string> arguments;  // argv, the name included
};

class Child {
 public:
  // Forks. The child waits for release() or abandon().
  static Result<Child> fork(const Program& program, const SignalRelay& relay);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  ~Child();  // abandons a child that was not released

  pid_t pid() const { return pid_; }

  // Lets the child execute the program with `environment`. Returns 0, or the errno of execve; the
  // child is then gone.
  int release(const std::vector<std::string>& environment);

  // Ends the child before it has run anything of the job.
  void abandon();

 private:
  Child() = default;

  pid_t pid_ = -1;
  int gate_ = -1;    // the environment is written here
  int report_ = -1;  // the child writes execve's errno here; end of file means success
};

}  // namespace sonde::launcher
