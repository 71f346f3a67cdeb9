/* External questions: a shared object that adds questions to `sonde whatif`.
 *
 *   #include <sonde/sonde_question.h>
 *
 *   static int ask(const sonde_job* job, const sonde_value* values) {
 *     return job->scale_selected(job, "kind:data_load", values[0].number);
 *   }
 *   static const sonde_setting settings[] = {
 *       {"x", "how long a load takes, 1 is as now", SONDE_NUMBER, "0.5"}};
 *   static const sonde_question questions[] = {
 *       {"loads", "loads data faster", settings, 1, NULL, 0, ask}};
 *   const sonde_question_plugin sonde_question_descriptor = {
 *       SONDE_QUESTION_HEAD, "mine", "1.0", questions, 1};
 *
 * `sonde whatif job.sonde --plugin ./libmine.so --ask loads,x=0.1` loads it into `sonde` itself,
 * not into a job. Pure C without dependencies; docs/plugins.md explains an example.
 *
 * Versions: `abi` is the version for which a plugin was built. Sonde reads it from the file and
 * refuses another version before any code of the plugin runs. Within a version, Sonde only adds
 * fields at the end of sonde_job: check `job->size` before you use one that a later header has.
 *
 * Mistakes: Sonde checks all arguments. After an invalid one the question has no answer, and
 * `sonde whatif` reports the function and the fault, also if the plugin ignores the result. Sonde
 * cannot protect itself from a plugin that writes to foreign memory.
 */
#ifndef SONDE_SONDE_QUESTION_H
#define SONDE_SONDE_QUESTION_H

/* NOLINTBEGIN(modernize-*,readability-identifier-naming): it is C as well */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SONDE_QUESTION_ABI 1u
#define SONDE_QUESTION_EXPORT __attribute__((visibility("default")))

/* The type of a setting. Sonde parses its text, and refuses another form. */
enum {
  SONDE_NUMBER = 1,   /* `number` is finite */
  SONDE_FRACTION = 2, /* from 0 to 1; a user may write 30% */
  SONDE_TIME = 3,     /* such as 20ms; `number` is in ns, 0 or more */
  SONDE_SIZE = 4,     /* such as 25MiB; `number` is in bytes */
  SONDE_TEXT = 5      /* `number` is 0 */
};

/* KEY=VALUE behind the name of the question. */
typedef struct sonde_setting {
  const char* key;      /* a-z, 0-9, - and _, a letter first */
  const char* help;     /* one line */
  uint32_t type;        /* SONDE_NUMBER, … */
  const char* fallback; /* the text that counts if the user gives none; NULL: it is required */
} sonde_setting;

/* The value of a setting, the fallback if the user gave none. */
typedef struct sonde_value {
  const char* text;
  double number;
  int is_given; /* by the user */
} sonde_value;

/* Settings of a question that are worth a try, for optimisers. */
typedef struct sonde_candidate {
  const char* settings; /* "hit=0.5,hit_time=1ms"; empty: the fallbacks */
  const char* advice;   /* what to do for it: one line, without a full stop */
} sonde_candidate;

/* The kind of a piece of work. */
enum {
  SONDE_WORK_HOST = 1, /* a stretch of a thread's time; its waits do not count */
  SONDE_WORK_KERNEL = 2,
  SONDE_WORK_COPY = 3,
  SONDE_WORK_COLLECTIVE = 4, /* on a device: its transfer, after all ranks have come */
  SONDE_WORK_MESSAGE = 5     /* on its way */
};

/* A piece of work of the job. */
typedef struct sonde_work {
  uint64_t id;
  uint32_t kind;       /* SONDE_WORK_HOST, … */
  uint32_t reserved;   /* 0 */
  const char* name;    /* of the kernel or copy, or of the innermost slice around a thread's time;
                          empty: none. UTF-8 */
  const char* lane;    /* its thread or stream, such as "stream 7" */
  int64_t rank;        /* -1: none. A message has its sender's */
  int64_t iteration;   /* the number of its iteration; -1: outside of all */
  int64_t begin_ns;    /* as measured, by the job's clock */
  int64_t measured_ns; /* its length, without waits */
  int64_t now_ns;      /* its length as earlier questions and calls left it */
} sonde_work;

/* The job that a question is asked of. The first argument of each function is the table itself.
 * Call them only inside `ask` and on its thread. They return 0, or another number after an error,
 * which Sonde keeps: return it from `ask`.
 *
 * SEL is a selector, as docs/cli/whatif.md describes, such as "kind:kernel,name:*gemm*". Changes
 * add up in the order of the calls. */
typedef struct sonde_job sonde_job;
struct sonde_job {
  uint32_t abi;       /* SONDE_QUESTION_ABI of this Sonde */
  uint32_t size;      /* bytes of this structure */
  int64_t ranks;      /* that have iterations; 1 if the trace has no ranks */
  int64_t iterations; /* of one rank */

  /* The work that SEL selects, by lane and then by begin; messages last. None: the count is 0. The
   * array and its texts are valid until `ask` returns, but `now_ns` is that of the call. The same
   * work has the same id in each call. */
  int (*select)(const sonde_job* job,
                const char* selector,
                const sonde_work** works,
                size_t* count);

  /* It takes `factor` times as long as now, from 0 to a million. */
  int (*scale)(const sonde_job* job, uint64_t work, double factor);
  /* It takes `ns`, from 0 to 10^15. */
  int (*set)(const sonde_job* job, uint64_t work, int64_t ns);
  /* It takes no time, nor does the call that launches it. */
  int (*remove)(const sonde_job* job, uint64_t work);
  /* New work of `ns` directly behind it, on its lane: what needs its end waits for the new work,
   * too. The new work then belongs to this one. A message arrives later. */
  int (*insert)(const sonde_job* job, uint64_t work, int64_t ns);

  /* The same for all that SEL selects. That nothing matches is an error. */
  int (*scale_selected)(const sonde_job* job, const char* selector, double factor);
  int (*set_selected)(const sonde_job* job, const char* selector, int64_t ns);
  int (*remove_selected)(const sonde_job* job, const char* selector);

  /* A sentence for the answer: something that it assumes. UTF-8, one line, up to 1000 bytes. */
  int (*note)(const sonde_job* job, const char* text);
  /* The relative error of the times from `set` and `insert`, from 0 to 1. It widens the interval of
   * the answer; the largest one counts. */
  int (*model_error)(const sonde_job* job, double error);

  /* There is no answer, for this reason. `status`: SONDE_INVALID or SONDE_MISSING. Returns other
   * than 0. */
  int (*fail)(const sonde_job* job, int status, const char* reason);
};

enum {
  SONDE_INVALID = 2, /* the settings contradict themselves or the job; exit status 2 */
  SONDE_MISSING = 4  /* the trace lacks what the question needs; exit status 4 */
};

/* A question of `--ask`. Texts end with a zero, and all stay valid and unchanged. */
typedef struct sonde_question {
  const char* name; /* a-z, 0-9, - and _, a letter first; none of Sonde's own questions */
  const char* help; /* one line that continues "the job then" */
  const sonde_setting* settings;
  size_t setting_count;
  const sonde_candidate* candidates;
  size_t candidate_count;
  /* Changes the job. `values` are in the order of `settings`. Called once for each time that the
   * question is asked. A result other than 0: there is no answer. */
  int (*ask)(const sonde_job* job, const sonde_value* values);
} sonde_question;

/* The descriptor: the only object that a plugin must export. It must be initialised by the
 * compiler. Texts end with a zero inside their arrays. */
typedef struct sonde_question_plugin {
  uint32_t abi;  /* SONDE_QUESTION_ABI */
  uint32_t size; /* sizeof(sonde_question_plugin) */
  char name[32]; /* a-z, 0-9, - and _, a letter first */
  char version[16];
  const sonde_question* questions;
  size_t question_count;
} sonde_question_plugin;

/* The first two fields. */
#define SONDE_QUESTION_HEAD SONDE_QUESTION_ABI, (uint32_t)sizeof(sonde_question_plugin)

extern SONDE_QUESTION_EXPORT const sonde_question_plugin sonde_question_descriptor;

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-*,readability-identifier-naming) */
#endif
