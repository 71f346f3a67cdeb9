// Turns its own recording off and on again between pushes and pops, as the recorder may at any
// time.
#include "collector/wire/spool_format.h"

#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace {

namespace wire = sonde::wire;

// The control page of this process's spool.
wire::ControlPage* ownControl() {
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

}  // namespace

int main() {
  wire::ControlPage* const control = ownControl();
  if (control == nullptr)
    return 1;
  nvtxRangePushA("outer");
  control->recording.store(0);
  nvtxRangePushA("unseen");
  nvtxRangePop();
  nvtxRangePushA("unseen");
  control->recording.store(1);
  nvtxRangePop();
  nvtxRangePushA("inner");
  nvtxRangePop();
  nvtxMarkA("before the end");
  nvtxRangePop();
}
