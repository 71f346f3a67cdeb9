/* Adds the question `cached-loads` to `sonde whatif`: a part of the batches comes from a cache.
 *
 *   cc -shared -fPIC -O2 -o libcached_loads.so cached_loads.c
 *   sonde whatif job.sonde --plugin ./libcached_loads.so --ask cached-loads,hit=90%,hit_time=1ms */
#include <sonde/sonde_question.h>
#include <stdio.h>

enum { HIT, HIT_TIME };

static const sonde_setting settings[] = {
    {"hit", "the part of the batches that the cache has", SONDE_FRACTION, NULL},
    {"hit_time", "how long such a batch takes", SONDE_TIME, "1ms"}};

static const sonde_candidate candidates[] = {
    {"hit=50%", "keep half of the data set in the memory of each host"},
    {"hit=100%", "keep the data set in the memory of each host"}};

/* Hits are spread evenly over the loads of a thread: of the first n, n * hit are hits. */
static int isHit(size_t load, double hit) {
  return (uint64_t)((double)(load + 1) * hit + 1e-9) > (uint64_t)((double)load * hit + 1e-9);
}

static int ask(const sonde_job* job, const sonde_value* values) {
  const double hit = values[HIT].number;
  const int64_t hitNs = (int64_t)values[HIT_TIME].number;
  const sonde_work* loads;
  size_t count;
  size_t hits = 0;
  size_t ofThread = 0;
  size_t at;
  char note[200];
  if (job->select(job, "kind:data_load", &loads, &count) != 0)
    return 1;
  if (count == 0)
    return job->fail(job, SONDE_MISSING, "the trace has no loads: record the job with the hooks");
  for (at = 0; at < count; ++at) {
    if (at > 0 &&
        (loads[at].rank != loads[at - 1].rank || loads[at].begin_ns < loads[at - 1].begin_ns))
      ofThread = 0;
    if (isHit(ofThread++, hit) && loads[at].now_ns > hitNs) {
      if (job->set(job, loads[at].id, hitNs) != 0)
        return 1;
      ++hits;
    }
  }
  snprintf(note,
           sizeof note,
           "%zu of %zu loads come from the cache, which always has room; hits are spread evenly",
           hits,
           count);
  return job->note(job, note);
}

static const sonde_question questions[] = {
    {"cached-loads", "loads a part of its batches from a cache", settings, 2, candidates, 2, ask}};

const sonde_question_plugin sonde_question_descriptor = {
    SONDE_QUESTION_HEAD, "cached-loads", "1.0", questions, 1};
