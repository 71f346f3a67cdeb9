// Where plugins start and stop. The program's own start-up calls __libc_start_main, and this
// library stands in front of it: by then all libraries have been initialised, in whichever order
// the loader chose, and plugins start as the last thing before main. What is given to exit from
// there runs before any library's own end, and after what the program gives to it later.

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

// Called instead of main, in whose frame it goes on, so that no stack shows it.
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
