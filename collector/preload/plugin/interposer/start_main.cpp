// Starts and stops plugins. The program's start-up code calls __libc_start_main, which this library
// intercepts. By then all libraries have been initialised, in whatever order the loader chose, so
// plugins start last before main. Functions that are passed to exit from there run before the
// libraries' own destructors, and after those that the program registers later.

#include "collector/core/platform/hooks.h"
#include "collector/core/platform/symbol_versions.h"
#include "collector/preload/plugin/interposer/plugin_list.h"

#include <dlfcn.h>
#include <stdlib.h>

extern "C" int __cxa_atexit(void (*function)(void*), void* argument, void* library);

namespace sonde::preload::plugin {
namespace {

using Main = int (*)(int, char**, char**);
using StartMain = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);

constinit core::Real<StartMain> gStartMain{"__libc_start_main"};
Main gMain = nullptr;

void begin() {
  const char* const libraries = getenv("SONDE_PLUGIN_LIBRARIES");
  const auto find = reinterpret_cast<FindHooks>(dlsym(RTLD_DEFAULT, "sonde_plugin_hooks"));
  if (find == nullptr)
    dlerror();
  const Hooks* const hooks = find == nullptr ? nullptr : find(kHooksVersion);
  if (libraries == nullptr || hooks == nullptr || !hooks->isAsked())
    return;
  startPlugins(*hooks, libraries);
  __cxa_atexit([](void*) { stopPlugins(); }, nullptr, nullptr);
}

// Called instead of main; jumps to main in its own frame, so no stack shows this function.
int beginThenMain(int count, char** arguments, char** environment) {
  begin();
  return gMain(count, arguments, environment);
}

}  // namespace
}  // namespace sonde::preload::plugin

SONDE_EXPORT int __libc_start_main(sonde::preload::plugin::Main main,
                                   int count,
                                   char** arguments,
                                   void (*initialise)(),
                                   void (*finish)(),
                                   void (*loaderFinish)(),
                                   void* stackEnd) {
  using namespace sonde::preload::plugin;
  gMain = main;
  return gStartMain()(beginThenMain, count, arguments, initialise, finish, loaderFinish, stackEnd);
}
