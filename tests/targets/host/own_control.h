// Lets a target turn its own recording off and on, as the recorder may at any time.
#pragma once

#include "collector/wire/spool_format.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace sonde::test {

// The control page of this process's spool; nullptr: it has none.
inline wire::ControlPage* ownControl() {
  for (const auto& entry : std::filesystem::directory_iterator(std::getenv("SONDE_SESSION"))) {
    if (entry.path().extension() != ".spool")
      continue;
    const int file = open(entry.path().c_str(), O_RDWR | O_CLOEXEC);
    void* const base = mmap(nullptr,
                            wire::kControlOffset + sizeof(wire::ControlPage),
                            PROT_READ | PROT_WRITE,
                            MAP_SHARED,
                            file,
                            0);
    if (base != MAP_FAILED && static_cast<wire::FileHeader*>(base)->pid == getpid())
      return reinterpret_cast<wire::ControlPage*>(static_cast<char*>(base) + wire::kControlOffset);
  }
  return nullptr;
}

}  // namespace sonde::test
