// Starts this folder's `net` and `process` parts, once, after the core has attached and before the
// host's own code runs.

#include "collector/core/emit.h"
#include "collector/core/platform/hooks.h"
#include "collector/core/platform/symbol_versions.h"
#include "collector/core/spool.h"
#include "collector/preload/descriptors/fd_table.h"
#include "collector/preload/descriptors/io.h"
#include "collector/preload/descriptors/net.h"
#include "collector/preload/process/exec_env.h"

#include <dlfcn.h>
#include <unistd.h>

namespace sonde::preload {
namespace {

bool wants(wire::Probe probe) noexcept {
  return core::gSpool.session != nullptr &&
         (core::gSpool.session->probeMask >> static_cast<int>(probe) & 1) != 0;
}

__attribute__((constructor(103))) void start() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&start), &info) != 0 && info.dli_fname != nullptr)
    rememberEnvironment(environ, info.dli_fname);
  if (wants(wire::Probe::Net))
    startNet();
  if (wants(wire::Probe::Io))
    startIo();
  if (!wants(wire::Probe::Net) && !wants(wire::Probe::Io))
    return;
  if (!fd_table::start())
    core::countLoss(wire::Probe::Net, wire::RecordKind::Transfer, wire::LossReason::Definitions);
}

}  // namespace
}  // namespace sonde::preload
