/* Adds the rule `long-checkpoints` to `sonde check`: checkpoints take a large share of a rank's
 * time.
 *
 *   cc -shared -fPIC -O2 -o liblong_checkpoints.so long_checkpoints.c
 *
 * In the rules file:
 *
 *   [plugins]
 *   files = ["./liblong_checkpoints.so"]
 *   [rules]
 *   long-checkpoints = { severity = "error", max_share = 0.05 } */
#include <sonde/sonde_rule.h>
#include <stdio.h>

enum { MAX_SHARE };

static const char query[] =
    "SELECT rank, count(*), sum(dur_ns), (SELECT sum(i.dur_ns) FROM v_iteration i WHERE i.rank = "
    "s.rank) FROM v_slice s WHERE kind = 'checkpoint' AND dur_ns IS NOT NULL GROUP BY rank";

static const sonde_rule_parameter parameters[] = {{"max_share",
                                                   "share of the iterations' time that is healthy",
                                                   SONDE_RULE_REAL,
                                                   0,
                                                   0.1,
                                                   NULL,
                                                   0,
                                                   1}};

typedef struct State {
  const sonde_trace* trace;
  double limit;
  int ranks;
} State;

/* One rank: its number, its checkpoints, their time, and the time of its iterations. */
static int judgeRank(void* context, const sonde_cell* cells, size_t columns) {
  State* state = context;
  char entity[40];
  char message[160];
  sonde_evidence evidence[] = {{"checkpoints", SONDE_RULE_INTEGER, cells[1].integer, 0, NULL},
                               {"checkpoints_ns", SONDE_RULE_INTEGER, cells[2].integer, 0, NULL}};
  sonde_finding finding = {0};
  const double share = cells[3].real > 0 ? cells[2].real / cells[3].real : 0;
  (void)columns;
  ++state->ranks;
  snprintf(entity, sizeof entity, "rank %lld", (long long)cells[0].integer);
  snprintf(message,
           sizeof message,
           "%lld checkpoints take %.1f %% of the time of the iterations",
           (long long)cells[1].integer,
           100 * share);
  finding.verdict = cells[3].real <= 0     ? SONDE_INSUFFICIENT
                    : share > state->limit ? SONDE_FIRED
                                           : SONDE_PASS;
  if (finding.verdict == SONDE_INSUFFICIENT)
    snprintf(message, sizeof message, "the rank has no iterations: mark them");
  finding.has = SONDE_HAS_VALUE | SONDE_HAS_THRESHOLD;
  finding.entity = entity;
  finding.message = message;
  finding.value = share;
  finding.threshold = state->limit;
  finding.samples = cells[1].integer;
  finding.query = query;
  finding.evidence = evidence;
  finding.evidence_count = 2;
  return state->trace->report(state->trace, &finding);
}

static int judge(const sonde_trace* trace, const sonde_rule_value* values) {
  State state = {trace, values[MAX_SHARE].real, 0};
  sonde_finding none = {0};
  if (trace->query(trace, query, judgeRank, &state) != 0)
    return 1;
  if (state.ranks > 0)
    return 0;
  none.verdict = SONDE_SKIPPED;
  none.message = "the job wrote no checkpoints, or they were not recorded";
  return trace->report(trace, &none);
}

static const sonde_rule rules[] = {{"long-checkpoints",
                                    "checkpoints take a large share of the time",
                                    "write checkpoints less often, or in the background",
                                    parameters,
                                    1,
                                    judge}};

const sonde_rule_plugin sonde_rule_descriptor = {
    SONDE_RULE_HEAD, "long-checkpoints", "1.0", rules, 1};
