// Distinguishes a signal that was sent to the recorder only from one that was sent to its whole
// process group, which includes the job: `kill 0` in a script, a shell's `kill %1`, srun. siginfo
// does not show the difference. A second process in the group keeps all signals pending; a signal
// that is pending there too was sent to all. That process waits on a socket and ends with the
// recorder.
//
// Create it on the main thread before any other thread exists and before the job is forked. Used on
// the main thread.
#pragma once

#include "base/result.h"

#include <sys/types.h>

#include <bitset>
#include <csignal>

namespace sonde::launcher {

class GroupWitness {
 public:
  static Result<GroupWitness> start();
  GroupWitness(GroupWitness&& other) noexcept;
  GroupWitness& operator=(GroupWitness&&) = delete;
  ~GroupWitness();

  pid_t pid() const noexcept { return pid_; }

  // Whether the witness got this signal, too. The witness then forgets it, so call once per signal.
  // The kernel signals the younger members of a group first, so the witness has the signal when the
  // recorder reads its own.
  bool got(int number);

 private:
  GroupWitness() = default;
  bool ask(int number);
  bool answers() const;

  pid_t pid_ = -1;
  std::bitset<_NSIG> covered_;  // the witness has already reported the next one of these
  int socket_ = -1;             // -1: it does not answer any more
};

}  // namespace sonde::launcher
