#include "collector/preload/plugin/interposer/plugin_list.h"

#include "collector/core/platform/symbol_versions.h"
#include "collector/preload/plugin/interposer/guarded_call.h"
#include "collector/preload/plugin/interposer/host_table.h"
#include "plugins/api/plugin_check.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

extern "C" int __register_atfork(void (*prepare)(),
                                 void (*parent)(),
                                 void (*child)(),
                                 void* library);

namespace sonde::preload::plugin {
namespace {

using plugins::Fault;

constexpr std::size_t kPathBytes = 4096;
constexpr std::size_t kTextBytes = 512;

struct Plugin {
  const sonde_plugin* descriptor = nullptr;
  const sonde_plugin_host* host = nullptr;  // nullptr: switched off
  std::uint8_t number = 0;
};

const Hooks* gHooks = nullptr;
Plugin gPlugins[wire::kMaxPlugins];
std::size_t gCount = 0;

[[gnu::format(printf, 3, 4)]] void note(std::uint8_t plugin,
                                        std::uint32_t severity,
                                        const char* format,
                                        ...) {
  char text[kTextBytes];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length <= 0)
    return;
  const auto bytes = static_cast<std::size_t>(length);
  gHooks->note(
      plugin, severity, gHooks->text(plugin, text, bytes < sizeof text ? bytes : sizeof text - 1));
}

void refuse(const char* path, const sonde_plugin& plugin, Fault fault) {
  if (fault == Fault::Abi)
    note(0,
         SONDE_PLUGIN_ERROR,
         "%.300s was not started: it is of plugin ABI %u, and this Sonde has %u",
         path,
         plugin.abi,
         SONDE_PLUGIN_ABI);
  else
    note(0,
         SONDE_PLUGIN_ERROR,
         "%.300s was not started: its descriptor is damaged: `sonde run --plugin` says how",
         path);
}

// Calls a callback of a plugin. An exception becomes a note, and the plugin is switched off.
bool callBack(Plugin& plugin, const char* callback, void (*call)(void*)) {
  const Thrown thrown = guardedCall(call, &plugin);
  if (!thrown.any)
    return true;
  if (plugin.host != nullptr)
    closeHost(plugin.host);
  plugin.host = nullptr;
  note(plugin.number,
       SONDE_PLUGIN_ERROR,
       "threw an exception in %s (%s): it is off in this process",
       callback,
       thrown.what[0] == '\0' ? "no std::exception" : thrown.what);
  return false;
}

// The plugin may refuse, with the return value of its `start`.
void start(Plugin& plugin) {
  static int answer;
  answer = 0;
  const bool returned = callBack(plugin, "start", [](void* given) {
    const auto* self = static_cast<Plugin*>(given);
    answer = self->descriptor->start(self->host);
  });
  if (!returned || answer == 0)
    return;
  closeHost(plugin.host);
  plugin.host = nullptr;
  note(plugin.number,
       SONDE_PLUGIN_INFO,
       "did not want to record here: its start returned %d",
       answer);
}

// Returns the descriptor of a loaded library. nullptr: it has no usable one; a note explains why.
const sonde_plugin* descriptorOf(const char* path) {
  void* const library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  const void* const symbol =
      library == nullptr ? nullptr : dlsym(library, "sonde_plugin_descriptor");
  if (symbol == nullptr) {
    dlerror();  // otherwise the program's next dlerror() would report this lookup
    note(0,
         SONDE_PLUGIN_ERROR,
         "%.300s was not started: %s",
         path,
         library == nullptr ? "the loader could not load it" : "it has no sonde_plugin_descriptor");
    return nullptr;
  }
  const auto* descriptor = static_cast<const sonde_plugin*>(symbol);
  Fault fault = descriptor->abi == SONDE_PLUGIN_ABI ? plugins::faultOf(*descriptor) : Fault::Abi;
  if (fault == Fault::None && descriptor->start == nullptr)
    fault = Fault::NoStart;
  if (fault == Fault::None)
    return descriptor;
  refuse(path, *descriptor, fault);
  return nullptr;
}

void take(const char* path) {
  const sonde_plugin* const descriptor = descriptorOf(path);
  if (descriptor == nullptr || gCount == wire::kMaxPlugins)
    return;
  const auto id = [](const char* text) { return gHooks->text(0, text, strlen(text)); };
  const char* category = descriptor->category[0] == '\0' ? descriptor->name : descriptor->category;
  Plugin& plugin = gPlugins[gCount];
  plugin.descriptor = descriptor;
  plugin.number = gHooks->add(id(descriptor->name), id(category), id(descriptor->version));
  if (plugin.number == 0)
    return;
  ++gCount;
  plugin.host = openHost(plugin.number);
  start(plugin);
}

void childBegins() {
  const int savedErrno = errno;
  for (std::size_t at = 0; at < gCount; ++at) {
    if (gPlugins[at].host != nullptr && gPlugins[at].descriptor->forked != nullptr)
      callBack(gPlugins[at], "forked", [](void* given) {
        static_cast<Plugin*>(given)->descriptor->forked();
      });
  }
  errno = savedErrno;
}

bool anyWantsChildren() {
  for (std::size_t at = 0; at < gCount; ++at) {
    if (gPlugins[at].descriptor->forked != nullptr)
      return true;
  }
  return false;
}

}  // namespace

void startPlugins(const Hooks& hooks, const char* libraries) {
  gHooks = &hooks;
  useHooks(hooks);
  const int savedErrno = errno;
  const char* item = strchr(libraries, ':');
  while (item != nullptr) {
    ++item;
    char path[kPathBytes];
    const std::size_t length = strcspn(item, ":");
    if (length > 0 && length < sizeof path) {
      memcpy(path, item, length);
      path[length] = '\0';
      take(path);
    }
    item = item[length] == '\0' ? nullptr : item + length;
  }
  if (anyWantsChildren())
    __register_atfork(nullptr, nullptr, childBegins, nullptr);
  errno = savedErrno;
}

void stopPlugins() {
  const int savedErrno = errno;
  for (std::size_t at = gCount; at > 0; --at) {
    Plugin& plugin = gPlugins[at - 1];
    if (plugin.host == nullptr)
      continue;
    if (plugin.descriptor->stop != nullptr && !callBack(plugin, "stop", [](void* given) {
          static_cast<Plugin*>(given)->descriptor->stop();
        }))
      continue;
    closeHost(plugin.host);
    plugin.host = nullptr;
  }
  errno = savedErrno;
}

}  // namespace sonde::preload::plugin
