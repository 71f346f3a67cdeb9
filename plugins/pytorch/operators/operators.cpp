// Records PyTorch's operators with a global observer of libtorch_cpu, which every release since 1.8
// exports. Nothing of PyTorch is compiled in. The only structure that is passed has had the same
// layout from 1.13 to 2.15; the caller proves it with operators of known names.
//
// Python loads it after torch (hooks/operators.py), so libstdc++ is in the process.
#define SONDE_NO_LOOKUP
#include "plugins/api/sonde.h"
#include "plugins/pytorch/operators/graph_nodes.h"
#include "plugins/pytorch/operators/input_texts.h"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

// glibc 2.34 gave these a new version. With the old one the library also loads on glibc 2.28.
#if defined(__x86_64__)
__asm__(".symver dlsym,dlsym@GLIBC_2.2.5");
__asm__(".symver dlopen,dlopen@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver dlsym,dlsym@GLIBC_2.17");
__asm__(".symver dlopen,dlopen@GLIBC_2.17");
#endif

namespace {

// ---- libtorch_cpu's interface ----

class RecordFunction;  // at::RecordFunction: what runs

// std::unique_ptr<at::ObserverContext>, always null. Like that type it has a destructor, so it is
// returned in memory.
struct NoContext {
  NoContext() noexcept = default;
  NoContext(const NoContext&) = delete;
  NoContext& operator=(const NoContext&) = delete;
  ~NoContext();  // otherwise it would be in a register
  void* pointer = nullptr;
};
NoContext::~NoContext() = default;

// at::RecordFunctionCallback, with room for what later versions may append.
struct Observer {
  NoContext (*start)(const RecordFunction&);
  void (*end)(const RecordFunction&, void*);
  double samplingProbability;
  bool scopes[10];  // at::RecordScope
  bool needsInputs;
  bool needsOutputs;
  bool needsIds;
  char later[32];
};
constexpr std::size_t kFunctions = 0;
constexpr std::size_t kBackwardFunctions = 1;

struct Library {
  std::uint64_t (*addObserver)(Observer);
  void (*removeObserver)(std::uint64_t);
  const char* (*nameOf)(const RecordFunction*);
  std::uint64_t (*currentThread)();  // as PyTorch numbers them, from 1
  std::uint64_t (*nextNode)();       // the number of the node that the thread makes next
  // The inputs' sizes; empty for an input that is not a tensor. Second argument: include lists of
  // tensors.
  std::vector<std::vector<std::int64_t>> (*sizesOf)(const RecordFunction&, bool);
  std::vector<std::string> (*typesOf)(const RecordFunction&);
};

Library gLibrary;
const sonde_api_table* gApi;
std::array<std::uint64_t, 2> gObservers;
sonde::torch::GraphNodes gNodes;
bool gTellsNodes;
std::uint32_t gShapesKey;
std::uint32_t gTypesKey;
std::uint32_t gNodeKey;
std::uint32_t gBackwardOfKey;

// ---- the operators that run on a thread ----

struct Running {
  const RecordFunction* function;
  std::uint32_t token;
};

// Operators call operators, about a dozen levels deep; deeper ones than this are not recorded.
constexpr std::size_t kDeepest = 64;
thread_local std::array<Running, kDeepest> tRunning;
thread_local std::size_t tDepth;

void noteText(std::uint32_t token, std::uint32_t key, const sonde::torch::InputText& text) {
  gApi->metadata(token, key, gApi->intern(text.data(), text.size()));
}

void noteInputs(const RecordFunction& function, std::uint32_t token) {
  noteText(token, gShapesKey, sonde::torch::InputText(gLibrary.sizesOf(function, false)));
  noteText(token, gTypesKey, sonde::torch::InputText(gLibrary.typesOf(function)));
}

// Returns the token of the new scope; 0: not recorded.
std::uint32_t begin(const RecordFunction& function) {
  if (gApi->enabled(SONDE_PROBE_TORCH) == 0 || tDepth == kDeepest)
    return 0;
  const char* const name = gLibrary.nameOf(&function);
  const std::uint32_t token =
      gApi->begin(SONDE_OPERATOR, gApi->intern(name, std::strlen(name)), SONDE_PROBE_TORCH);
  if (token != 0)
    tRunning[tDepth++] = {&function, token};
  return token;
}

template <bool kIsBackward, bool kHasInputs>
NoContext begins(const RecordFunction& function) {
  const std::uint32_t token = begin(function);
  if (token == 0)
    return {};
  if (gTellsNodes) {
    const std::int64_t node = kIsBackward ? gNodes.backwardOf(&function)
                                          : gNodes.madeBy(&function, gLibrary.currentThread());
    if (node != 0)
      gApi->argument_int(token, kIsBackward ? gBackwardOfKey : gNodeKey, node);
  }
  try {
    if (kHasInputs)
      noteInputs(function, token);
  } catch (...) {  // no memory: then without them
  }
  return {};
}

// If the operator was passed to another thread and ends there, it is not found; it ends with the
// operator around it.
void ends(const RecordFunction& function, void* /*context*/) {
  std::size_t at = tDepth;
  while (at > 0 && tRunning[at - 1].function != &function)
    --at;
  if (at == 0)
    return;
  while (tDepth >= at)
    gApi->end(tRunning[--tDepth].token);
}

// ---- the proof: x.mul(2) on one thread, and its node called on another ----

struct Proof {
  // The thread that calls the nodes; its own multiplications do not count.
  std::uint64_t caller = 0;
  int operators = 0;
  int backwards = 0;
  std::uint64_t node = 0;    // of the last operator
  std::uint64_t thread = 0;  // the thread that ran it
};
Proof gProof;

bool isNamed(const RecordFunction& function, const char* name) {
  return std::strcmp(gLibrary.nameOf(&function), name) == 0;
}

NoContext provesOperator(const RecordFunction& function) {
  if (gLibrary.currentThread() == gProof.caller || !isNamed(function, "aten::mul"))
    return {};
  ++gProof.operators;
  gProof.node = gLibrary.nextNode();
  gProof.thread = gLibrary.currentThread();
  gNodes.learn(&function, gProof.node, 0);
  return {};
}

NoContext provesBackward(const RecordFunction& function) {
  if (!isNamed(function, "MulBackward0"))
    return {};
  ++gProof.backwards;
  gNodes.learn(&function, gProof.node, gProof.thread);
  return {};
}

void provesEnd(const RecordFunction& /*function*/, void* /*context*/) {}

// ---- looking up the library ----

int keepPath(dl_phdr_info* object, std::size_t /*size*/, void* path) {
  const std::string_view name = object->dlpi_name;
  if (name.substr(name.rfind('/') + 1).substr(0, 15) != "libtorch_cpu.so")
    return 0;
  *static_cast<std::string*>(path) = name;
  return 1;
}

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  void* const symbol = dlsym(library, name);
  std::memcpy(&function, &symbol, sizeof symbol);
  return symbol != nullptr;
}

bool findAll(void* library, bool inputs) {
  return find(library,
              "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE",
              gLibrary.addObserver) &&
         find(library, "_ZN2at14removeCallbackEm", gLibrary.removeObserver) &&
         find(library, "_ZNK2at14RecordFunction4nameEv", gLibrary.nameOf) &&
         find(library, "_ZN2at14RecordFunction15currentThreadIdEv", gLibrary.currentThread) &&
         find(library, "_ZN2at15sequence_number4peekEv", gLibrary.nextNode) &&
         (!inputs || (find(library,
                           "_ZN5torch8profiler4impl10inputSizesERKN2at14RecordFunctionEb",
                           gLibrary.sizesOf) &&
                      find(library,
                           "_ZN5torch8profiler4impl10inputTypesB5cxx11ERKN2at14RecordFunctionE",
                           gLibrary.typesOf)));
}

using Start = NoContext (*)(const RecordFunction&);
using End = void (*)(const RecordFunction&, void*);

void observe(std::size_t scope, Start start, End end, bool inputs = false) {
  Observer observer{};
  observer.start = start;
  observer.end = end;
  observer.samplingProbability = 1;
  observer.scopes[scope] = true;
  observer.needsInputs = inputs;
  gObservers[scope] = gLibrary.addObserver(observer);
}

}  // namespace

#define SONDE_EXPORT extern "C" __attribute__((visibility("default")))

// Looks up libtorch_cpu's functions; with `inputs` also those for the inputs' shapes and types.
// Returns NULL, or the name of what is missing.
SONDE_EXPORT const char* sonde_operators_find(int inputs) {
  void* const symbol = dlsym(RTLD_DEFAULT, "sonde_api");
  const sonde_api_table* (*api)(std::uint32_t) = nullptr;
  std::memcpy(&api, &symbol, sizeof symbol);
  gApi = api == nullptr ? nullptr : api(SONDE_API_VERSION);
  if (gApi == nullptr)
    return "Sonde's library is not in the process";
  std::string path;
  dl_iterate_phdr(keepPath, &path);
  void* const library = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr)
    return "there is no libtorch_cpu";
  return findAll(library, inputs != 0) ? nullptr : "libtorch_cpu lacks functions of 1.13 and later";
}

// From now until sonde_operators_proven(), each x.mul(2) of another thread proves the facts about
// operators. The next call of the result's grad_fn, on this thread, proves those about backward
// functions.
SONDE_EXPORT void sonde_operators_prove() {
  gProof.caller = gLibrary.currentThread();
  observe(kFunctions, provesOperator, provesEnd);
  observe(kBackwardFunctions, provesBackward, provesEnd);
}

enum { kIsUnknown = 0, kHasNoNodes = 1, kIsKnown = 2 };

// Operators that run meanwhile still end.
SONDE_EXPORT void sonde_operators_pause() {
  for (const std::uint64_t observer : gObservers)
    gLibrary.removeObserver(observer);
}

SONDE_EXPORT int sonde_operators_proven() {
  sonde_operators_pause();
  if (gProof.operators == 0 || gProof.backwards == 0)
    return kIsUnknown;
  gTellsNodes = gNodes.settle();
  return gTellsNodes ? kIsKnown : kHasNoNodes;
}

SONDE_EXPORT void sonde_operators_begin(int inputs) {
  gShapesKey = gApi->intern("shapes", 6);
  gTypesKey = gApi->intern("dtypes", 6);
  gNodeKey = gApi->intern("autograd_node", 13);
  gBackwardOfKey = gApi->intern("backward_of", 11);
  const bool wants = inputs != 0;
  observe(kFunctions, wants ? begins<false, true> : begins<false, false>, ends, wants);
  observe(kBackwardFunctions, wants ? begins<true, true> : begins<true, false>, ends, wants);
}
