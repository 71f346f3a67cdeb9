/* External rules: a shared object that adds rules to `sonde check` and `sonde run --rules`.
 *
 *   #include <sonde/sonde_rule.h>
 *
 *   static int count(void* context, const sonde_cell* cells, size_t columns) {
 *     (void)columns;
 *     *(int64_t*)context = cells[0].integer;
 *     return 0;
 *   }
 *   static int judge(const sonde_trace* trace, const sonde_rule_value* values) {
 *     int64_t kernels = 0;
 *     sonde_finding finding = {0};
 *     if (trace->query(trace, "SELECT count(*) FROM kernel", count, &kernels) != 0)
 *       return 1;
 *     finding.verdict = kernels > values[0].integer ? SONDE_FIRED : SONDE_PASS;
 *     finding.message = "the job launches many kernels";
 *     return trace->report(trace, &finding);
 *   }
 *   static const sonde_rule_parameter parameters[] = {
 *       {"most", "kernels that are still healthy", SONDE_RULE_INTEGER, 1000, 0, NULL, 0, 1e9}};
 *   static const sonde_rule rules[] = {{"many-kernels",
 *                                       "the job launches too many kernels",
 *                                       "fuse operators",
 *                                       parameters,
 *                                       1,
 *                                       judge}};
 *   const sonde_rule_plugin sonde_rule_descriptor = {
 *       SONDE_RULE_HEAD, "mine", "1.0", rules, 1};
 *
 * A rules file names the shared object and then its rules:
 *
 *   [plugins]
 *   files = ["./libmine.so"]
 *   [rules]
 *   many-kernels = { severity = "error", most = 500 }
 *
 * `judge` runs in a process of its own. If it crashes, or takes longer than 10 s, its verdict is
 * `error`, and no other rule is harmed. Changes that it makes to its own memory are lost. Pure C
 * without dependencies; docs/plugins.md explains an example.
 *
 * Versions: `abi` is the version for which a plugin was built. Sonde reads it from the file and
 * refuses another version before any code of the plugin runs. Within a version, Sonde only adds
 * fields at the end of sonde_trace: check `trace->size` before you use one that a later header has.
 */
#ifndef SONDE_SONDE_RULE_H
#define SONDE_SONDE_RULE_H

/* NOLINTBEGIN(modernize-*,readability-identifier-naming): it is C as well */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SONDE_RULE_ABI 1u
#define SONDE_RULE_EXPORT __attribute__((visibility("default")))

/* The type of a parameter, of a cell, and of a piece of evidence. */
enum {
  SONDE_RULE_NULL = 0, /* of a cell alone */
  SONDE_RULE_INTEGER = 1,
  SONDE_RULE_REAL = 2,
  SONDE_RULE_TEXT = 3 /* UTF-8 */
};

/* A parameter in the rules file. */
typedef struct sonde_rule_parameter {
  const char* name; /* a-z, 0-9 and _, a letter first; not severity */
  const char* help; /* one line */
  uint32_t type;    /* SONDE_RULE_INTEGER, … */
  int64_t integer;  /* the default, by type */
  double real;
  const char* text;
  double minimum; /* of a number, both included; equal: any number */
  double maximum;
} sonde_rule_parameter;

/* The value of a parameter: the field of its type. */
typedef struct sonde_rule_value {
  int64_t integer;
  double real;
  const char* text;
} sonde_rule_value;

/* A cell of a row. A blob is null. */
typedef struct sonde_cell {
  uint32_t type;
  uint32_t bytes;   /* of the text */
  int64_t integer;  /* of a real: rounded towards zero */
  double real;      /* of an integer: the same number */
  const char* text; /* ends with a zero; empty if it is no text */
} sonde_cell;

/* A fact that explains a finding. */
typedef struct sonde_evidence {
  const char* name; /* a-z, 0-9 and _, a letter first */
  uint32_t type;    /* SONDE_RULE_INTEGER, SONDE_RULE_REAL or SONDE_RULE_TEXT */
  int64_t integer;
  double real;
  const char* text;
} sonde_evidence;

enum {
  SONDE_PASS = 1,         /* there is enough data, and it is healthy */
  SONDE_FIRED = 2,        /* there is enough data, and it is not */
  SONDE_INSUFFICIENT = 3, /* the rule applies, but there is too little data: the message says how
                             much more is needed */
  SONDE_SKIPPED = 4       /* the rule cannot apply to this run */
};

/* The judgement of one entity. Texts are UTF-8 of up to 1000 bytes, in one line. Fields that are 0
 * or NULL are left out. */
typedef struct sonde_finding {
  uint32_t verdict;
  uint32_t has;        /* SONDE_HAS_VALUE | SONDE_HAS_THRESHOLD */
  const char* entity;  /* "rank 3"; NULL: "job" */
  const char* message; /* one sentence; required */
  double value;
  double threshold; /* what `value` was compared with */
  int64_t samples;
  int64_t from_ns; /* when, by the job's clock */
  int64_t to_ns;
  const char* query; /* SQL that shows the evidence */
  const char* hint;  /* what to do; NULL: that of the rule */
  const sonde_evidence* evidence;
  size_t evidence_count; /* up to 32 */
} sonde_finding;
enum { SONDE_HAS_VALUE = 1, SONDE_HAS_THRESHOLD = 2 };

/* The trace. The first argument of each function is the table itself. Call them only inside `judge`
 * and on its thread. They return 0, or another number after an error, which Sonde keeps: return it
 * from `judge`. */
typedef struct sonde_trace sonde_trace;
struct sonde_trace {
  uint32_t abi;  /* SONDE_RULE_ABI of this Sonde */
  uint32_t size; /* bytes of this structure */

  /* Calls `each` for every row of a SELECT over the tables and views of docs/schema.md, until it
   * returns other than 0; that is then an error. Cells are valid during the call. */
  int (*query)(const sonde_trace* trace,
               const char* sql,
               int (*each)(void* context, const sonde_cell* cells, size_t columns),
               void* context);

  /* Adds a finding, up to 100. Without any, the rule passes. */
  int (*report)(const sonde_trace* trace, const sonde_finding* finding);

  /* The rule cannot be evaluated, for this reason. Returns other than 0. */
  int (*fail)(const sonde_trace* trace, const char* reason);
};

/* A rule. Texts end with a zero, and all stay valid and unchanged. */
typedef struct sonde_rule {
  const char* name;    /* a-z, 0-9 and -, a letter first; none of Sonde's own rules */
  const char* summary; /* when it fires: one line */
  const char* hint;    /* what to do when it fired: one line; NULL: none */
  const sonde_rule_parameter* parameters;
  size_t parameter_count;
  /* Reports findings. `values` are in the order of `parameters`. Keep no state: Sonde may call it
   * at any time, on a finished trace or on one that grows. A result other than 0: an error. */
  int (*judge)(const sonde_trace* trace, const sonde_rule_value* values);
} sonde_rule;

/* The descriptor: the only object that a plugin must export. It must be initialised by the
 * compiler. Texts end with a zero inside their arrays. */
typedef struct sonde_rule_plugin {
  uint32_t abi;  /* SONDE_RULE_ABI */
  uint32_t size; /* sizeof(sonde_rule_plugin) */
  char name[32]; /* a-z, 0-9, - and _, a letter first */
  char version[16];
  const sonde_rule* rules;
  size_t rule_count;
} sonde_rule_plugin;

/* The first two fields. */
#define SONDE_RULE_HEAD SONDE_RULE_ABI, (uint32_t)sizeof(sonde_rule_plugin)

extern SONDE_RULE_EXPORT const sonde_rule_plugin sonde_rule_descriptor;

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-*,readability-identifier-naming) */
#endif
