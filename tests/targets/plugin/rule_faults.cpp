// Rules that make the mistakes that sonde_rule.h rules out, one each, and one that is fine.
#include "plugins/api/sonde_rule.h"

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <stdexcept>

namespace {

sonde_finding fired() {
  sonde_finding finding{};
  finding.verdict = SONDE_FIRED;
  finding.message = "it is so";
  return finding;
}

int take(void* context, const sonde_cell* cells, size_t columns) {
  *static_cast<double*>(context) = columns > 0 ? cells[0].real : 0;
  return 0;
}
int refuse(void*, const sonde_cell*, size_t) {
  return 7;
}

// Without a finding the rule passes.
int fine(const sonde_trace* trace, const sonde_rule_value*) {
  std::puts("a plugin may print");
  double one = 0;
  if (trace->query(trace, "SELECT 1.5", take, &one) != 0)
    return 1;
  return one == 1.5 ? 0 : 1;
}
int crash(const sonde_trace*, const sonde_rule_value*) {
  return std::raise(SIGSEGV);
}
int loop(const sonde_trace*, const sonde_rule_value*) {
  for (volatile int always = 1; always != 0;) {
  }
  return 0;
}
int exits(const sonde_trace*, const sonde_rule_value*) {
  std::_Exit(0);
}
int throws(const sonde_trace*, const sonde_rule_value*) {
  throw std::runtime_error("of its own");
}
int noReason(const sonde_trace*, const sonde_rule_value*) {
  return 5;
}
int ownReason(const sonde_trace* trace, const sonde_rule_value*) {
  return trace->fail(trace, "the moon is\nfull");
}
int wrongSql(const sonde_trace* trace, const sonde_rule_value*) {
  trace->query(trace, "SELECT absent FROM slice", take, nullptr);
  return 0;  // Sonde has kept the error
}
int writes(const sonde_trace* trace, const sonde_rule_value*) {
  return trace->query(trace, "DELETE FROM slice", take, nullptr);
}
int refusesRow(const sonde_trace* trace, const sonde_rule_value*) {
  return trace->query(trace, "SELECT 1", refuse, nullptr);
}
int nullPointer(const sonde_trace* trace, const sonde_rule_value*) {
  return trace->query(trace, nullptr, take, nullptr);
}
int wrongVerdict(const sonde_trace* trace, const sonde_rule_value*) {
  sonde_finding finding = fired();
  finding.verdict = 9;
  return trace->report(trace, &finding);
}
int noMessage(const sonde_trace* trace, const sonde_rule_value*) {
  sonde_finding finding = fired();
  finding.message = nullptr;
  return trace->report(trace, &finding);
}
int notFinite(const sonde_trace* trace, const sonde_rule_value*) {
  sonde_finding finding = fired();
  finding.has = SONDE_HAS_VALUE;
  finding.value = std::numeric_limits<double>::quiet_NaN();
  return trace->report(trace, &finding);
}
int wrongEvidence(const sonde_trace* trace, const sonde_rule_value*) {
  const sonde_evidence evidence = {"a b", SONDE_RULE_INTEGER, 1, 0, nullptr};
  sonde_finding finding = fired();
  finding.evidence = &evidence;
  finding.evidence_count = 1;
  return trace->report(trace, &finding);
}
int tooMany(const sonde_trace* trace, const sonde_rule_value*) {
  const sonde_finding finding = fired();
  for (int i = 0; i < 101; ++i)
    if (trace->report(trace, &finding) != 0)
      return 1;
  return 0;
}

constexpr sonde_rule named(const char* name,
                           int (*judge)(const sonde_trace*, const sonde_rule_value*)) {
  return {name, "a rule of the tests", nullptr, nullptr, 0, judge};
}

const sonde_rule kRules[] = {named("is-fine", fine),
                             named("crashes", crash),
                             named("loops", loop),
                             named("exits", exits),
                             named("throws", throws),
                             named("no-reason", noReason),
                             named("own-reason", ownReason),
                             named("wrong-sql", wrongSql),
                             named("writes", writes),
                             named("refuses-row", refusesRow),
                             named("null-pointer", nullPointer),
                             named("wrong-verdict", wrongVerdict),
                             named("no-message", noMessage),
                             named("not-finite", notFinite),
                             named("wrong-evidence", wrongEvidence),
                             named("too-many", tooMany)};

}  // namespace

extern const sonde_rule_plugin sonde_rule_descriptor = {
    SONDE_RULE_HEAD, "faults", "1.0", kRules, sizeof kRules / sizeof kRules[0]};
