/* Annotations for C and C++ programs that Sonde records.
 *
 *   #include <sonde/sonde.h>
 *
 *   sonde_scope scope = sonde_begin(SONDE_OPERATION, "rollout");
 *   ...
 *   sonde_end(scope);
 *
 * Header-only; the only dependency is libc's dlsym. Each source file that includes this header
 * looks up Sonde's library once, when its program or library is loaded, in a constructor of the
 * first priority that programs may use (101). Before that constructor, and without Sonde's library,
 * every call is a no-op of a few nanoseconds. Any thread may call every function at any time. A
 * function keeps errno, never waits for another thread and never fails. A scope ends on the thread
 * that began it.
 *
 * Names are texts of up to 16 KiB and are copied. For a string literal use SONDE_BEGIN("rollout"),
 * which looks the name up once per place in the code.
 */
#ifndef SONDE_SONDE_H
#define SONDE_SONDE_H

/* NOLINTBEGIN(modernize-*,readability-identifier-naming): it is C as well */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SONDE_API_VERSION 1u

/* Kinds of scopes; the numbers are those of the spool format. */
enum {
  SONDE_PHASE = 1,
  SONDE_OPERATION = 2,
  SONDE_ITERATION = 3,
  SONDE_MICRO_STEP = 4,
  SONDE_FORWARD = 5,
  SONDE_BACKWARD = 6,
  SONDE_OPTIMIZER = 7,
  SONDE_DATA_LOAD = 8,
  SONDE_CHECKPOINT = 9,
  SONDE_EVALUATION = 10,
  SONDE_MODULE = 11,
  SONDE_OPERATOR = 12,
  SONDE_PYTHON = 17
};

/* Statistics of a tensor at an instant; docs/probes/tensor.md defines the numbers. Names are ids
 * from intern(), 0 if there is none. */
typedef struct sonde_tensor {
  uint32_t name;
  uint32_t collection;
  uint32_t role;  /* SONDE_TENSOR_… */
  uint32_t dtype; /* torch's name, such as "float32" */
  uint32_t shape; /* "[2, 3]" */
  uint32_t file;  /* contains all elements, from `file_offset` on; 0: no file */
  uint64_t file_offset;
  uint64_t when; /* from now(); 0: now */
  int64_t elements;
  int64_t zeros;
  int64_t nans;
  int64_t infs;
  double minimum; /* this and the next: of the finite elements; there may be none */
  double maximum;
  double mean;
  double variance;
  double l1;
  double l2;
  /* In ascending order: bucket << 48 | count, see wire::TensorStatistics; at most 5,120. */
  const uint64_t* buckets;
  uint32_t bucket_count;
} sonde_tensor;

enum {
  SONDE_TENSOR_WEIGHT = 1,
  SONDE_TENSOR_GRADIENT = 2,
  SONDE_TENSOR_INPUT = 3,
  SONDE_TENSOR_OUTPUT = 4,
  SONDE_TENSOR_LOSS = 5,
  SONDE_TENSOR_OTHER = 6
};

/* The functions of the recording library. Later versions append; `size` is the size of the table.
 */
typedef struct sonde_api_table {
  uint32_t version;
  uint32_t size;
  /* Returns the id of a text, stable in this process and its forked children. If the table is full,
   * returns the id of "(name lost)"; if there is no room for the text now, 0. */
  uint32_t (*intern)(const char* text, size_t length);
  /* Opens a scope. Returns its token, 0 if nothing is recorded. `probe`: SONDE_PROBE_…. */
  uint32_t (*begin)(uint32_t kind, uint32_t name, uint32_t probe);
  /* Closes the scope with this token; ignores 0. */
  void (*end)(uint32_t token);
  void (*mark)(uint32_t name, uint32_t probe);
  void (*scalar)(uint32_t name, double value);
  /* Work of the iteration that is open or ended last on the thread; 0: unknown. */
  void (*iteration_info)(uint64_t samples, uint64_t tokens, double flops);
  /* A key and a text value, for the scope `token` or, with token 0, for the process. */
  void (*metadata)(uint32_t token, uint32_t key, uint32_t text);
  void (*argument_int)(uint32_t token, uint32_t key, int64_t value);
  /* Whether this probe records now. Cheap enough for a call at every event. */
  int (*enabled)(uint32_t probe);
  /* The communicators that this process creates from now on have this key and these members (ranks
   * in order), until `communicator_hint(NULL, NULL, 0)`. Groups are created one at a time, so one
   * hint per process is enough. */
  void (*communicator_hint)(const char* key, const int32_t* ranks, int32_t count);
  /* now() reads the recorder's clock. scalar_at() records a scalar with such a time, for values
   * that arrive late, for example from a device. */
  uint64_t (*now)(void);
  void (*scalar_at)(uint32_t name, double value, uint64_t when);
  /* For the probe `python`: a finished call of native code, or a garbage collection. `category`:
   * SONDE_CATEGORY_…; times from now(). */
  void (*native_call)(uint32_t name, uint32_t category, uint64_t begin, uint64_t end);
  /* For the probe `tensor`. Returns 0 if the record was not written, and counts that. */
  int (*tensor)(const sonde_tensor* tensor);
  /* Counts tensors that were requested but cannot be recorded, as lost: "not supported". */
  void (*lost_tensors)(uint32_t count);
  /* For a run that switches probes to measure their cost: returns the switched probes, as bits 1 <<
   * SONDE_PROBE_…; 0: not such a run. */
  uint32_t (*calibrated)(void);
  /* Those of the switched probes that are off now. */
  uint32_t (*masked)(void);
  /* `calls` calls were not recorded because `probe` is off. */
  void (*unrecorded)(uint32_t probe, uint32_t calls);
} sonde_api_table;

enum {
  SONDE_PROBE_ANNOTATION = 0,
  SONDE_PROBE_NVTX = 1,
  SONDE_PROBE_TORCH = 2,
  SONDE_PROBE_PYTHON = 11,
  SONDE_PROBE_TENSOR = 13
};

/* Whose code a call from Python runs. */
enum {
  SONDE_CATEGORY_PYTHON = 1,
  SONDE_CATEGORY_FRAMEWORK = 2,
  SONDE_CATEGORY_SIMULATOR = 3,
  SONDE_CATEGORY_OTHER = 4
};

static const sonde_api_table* sonde_found;

/* Must not run later. dlsym takes the loader's lock, which a thread that waits for this one may
 * hold. In a constructor, this thread holds it, or no other thread exists yet. The library that
 * provides the table defines SONDE_NO_LOOKUP. */
#ifndef SONDE_NO_LOOKUP
__attribute__((constructor(101), used)) static void sonde_look_up(void) {
  typedef const sonde_api_table* (*sonde_api_function)(uint32_t);
  void* const everywhere = NULL; /* RTLD_DEFAULT, which glibc names for _GNU_SOURCE alone */
  void* symbol = dlsym(everywhere, "sonde_api");
  sonde_api_function function;
  if (symbol == NULL) {
    dlerror(); /* otherwise the program's next dlerror() would report this lookup */
    return;
  }
  /* ISO C has no cast from object to function pointer. */
  memcpy(&function, &symbol, sizeof function);
  sonde_found = function(SONDE_API_VERSION);
}
#endif

/* The table of the recording library in this process, or NULL. */
static inline const sonde_api_table* sonde_table(void) {
  return sonde_found;
}

typedef uint32_t sonde_scope;

/* Opens a scope whose name may change between calls. `kind`: SONDE_PHASE, SONDE_OPERATION, …. */
static inline sonde_scope sonde_begin(uint32_t kind, const char* name) {
  const sonde_api_table* api = sonde_table();
  return api == NULL ? 0u
                     : api->begin(kind, api->intern(name, strlen(name)), SONDE_PROBE_ANNOTATION);
}

/* The same with a name that never changes at this place in the code; `cache` is a static variable
 * of that place. */
static inline sonde_scope sonde_begin_cached(uint32_t kind, const char* name, uint32_t* cache) {
  const sonde_api_table* api = sonde_table();
  uint32_t id;
  if (api == NULL)
    return 0u;
  id = __atomic_load_n(cache, __ATOMIC_RELAXED);
  if (id == 0u) {
    id = api->intern(name, strlen(name));
    __atomic_store_n(cache, id, __ATOMIC_RELAXED);
  }
  return api->begin(kind, id, SONDE_PROBE_ANNOTATION);
}

static inline void sonde_end(sonde_scope scope) {
  const sonde_api_table* api = sonde_table();
  if (api != NULL)
    api->end(scope);
}

/* Marks an instant in the timeline. */
static inline void sonde_mark(const char* name) {
  const sonde_api_table* api = sonde_table();
  if (api != NULL)
    api->mark(api->intern(name, strlen(name)), SONDE_PROBE_ANNOTATION);
}

/* A value of the iteration that is open or ended last on the thread: a loss, a learning rate, a
 * reward. */
static inline void sonde_scalar(const char* name, double value) {
  const sonde_api_table* api = sonde_table();
  if (api != NULL)
    api->scalar(api->intern(name, strlen(name)), value);
}

/* The amount of work in that iteration; 0 if unknown. */
static inline void sonde_iteration_info(uint64_t samples, uint64_t tokens, double flops) {
  const sonde_api_table* api = sonde_table();
  if (api != NULL)
    api->iteration_info(samples, tokens, flops);
}

/* A fact about the run (algorithm, environment, seed) that every report shows. */
static inline void sonde_metadata(const char* key, const char* value) {
  const sonde_api_table* api = sonde_table();
  if (api != NULL)
    api->metadata(0u, api->intern(key, strlen(key)), api->intern(value, strlen(value)));
}

#ifdef __cplusplus
}

#define SONDE_JOIN_INNER(a, b) a##b
#define SONDE_JOIN(a, b) SONDE_JOIN_INNER(a, b)

namespace sonde {

/* Closes its scope in its destructor; see SONDE_SCOPE. */
class Scope {
 public:
  explicit Scope(sonde_scope scope) noexcept : scope_(scope) {}
  ~Scope() { sonde_end(scope_); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  sonde_scope scope_;
};

}  // namespace sonde

/* SONDE_SCOPE(SONDE_OPERATION, "rollout"); — until the end of the block. The name must be a
 * literal. */
#define SONDE_SCOPE(kind, name) \
  const ::sonde::Scope SONDE_JOIN(sondeScope, __LINE__)(SONDE_BEGIN_KIND(kind, name))
#endif

/* Opens an operation named by a literal; a statement expression, so GCC and Clang only. */
#define SONDE_BEGIN(name) SONDE_BEGIN_KIND(SONDE_OPERATION, name)
#define SONDE_BEGIN_KIND(kind, name)                          \
  (__extension__({                                            \
    static uint32_t sonde_name_cache;                         \
    sonde_begin_cached((kind), ("" name), &sonde_name_cache); \
  }))

/* NOLINTEND(modernize-*,readability-identifier-naming) */
#endif
