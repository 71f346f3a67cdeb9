// Tells a signal that was sent to the recorder alone from one that was sent to its whole process
// group, in which the job is, too: `kill 0` in a script, a shell's `kill %1`, srun. siginfo does
// not say. A second process in the group keeps all signals pending; what is pending there as well
// went to all. It waits on a socket and ends with the recorder.
//
// Made on the main thread before any other thread exists and before the job is forked; used on the
// main thread.
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

  // Whether the witness got this signal, too; it forgets it. Ask once for every signal that came.
  // The kernel signals the younger members of a group first, so the answer is there when the
  // recorder has read its own.
  bool got(int number);

 private:
  GroupWitness() = default;
  bool ask(int number);
  bool answers() const;

  pid_t pid_ = -1;
  std::bitset<_NSIG> covered_;  // the next of these is one that the witness has told of already
  int socket_ = -1;             // -1: it does not answer any more
};

}  // namespace sonde::launcher
