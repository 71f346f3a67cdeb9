// Questions that make the mistakes that sonde_question.h rules out, one each.
#include "plugins/api/sonde_question.h"

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <thread>

namespace {

constexpr const char* kAll = "kind:host";

// The first piece of work.
std::uint64_t firstOf(const sonde_job* job) {
  const sonde_work* works = nullptr;
  std::size_t count = 0;
  job->select(job, kAll, &works, &count);
  return count > 0 ? works[0].id : 0;
}

int unknownId(const sonde_job* job, const sonde_value*) {
  job->scale(job, 1'000'000, 0.5);
  return 0;  // Sonde has kept the error
}
int noId(const sonde_job* job, const sonde_value*) {
  return job->remove(job, 0);
}
int negativeTime(const sonde_job* job, const sonde_value*) {
  return job->set(job, firstOf(job), -1);
}
int hugeTime(const sonde_job* job, const sonde_value*) {
  return job->insert(job, firstOf(job), INT64_MAX);
}
int hugeSum(const sonde_job* job, const sonde_value*) {
  for (int i = 0; i < 3; ++i)
    job->insert(job, firstOf(job), 900'000'000'000'000);
  return 0;
}
int notANumber(const sonde_job* job, const sonde_value*) {
  return job->scale_selected(job, kAll, std::nan(""));
}
int infinite(const sonde_job* job, const sonde_value*) {
  return job->scale(job, firstOf(job), HUGE_VAL);
}
int wrongError(const sonde_job* job, const sonde_value*) {
  return job->model_error(job, std::nan(""));
}
int nullSelector(const sonde_job* job, const sonde_value*) {
  return job->set_selected(job, nullptr, 1);
}
int wrongSelector(const sonde_job* job, const sonde_value*) {
  return job->remove_selected(job, "nam:x");
}
int nothing(const sonde_job* job, const sonde_value*) {
  return job->remove_selected(job, "name:nothing");
}
int nullJob(const sonde_job* job, const sonde_value*) {
  job->scale_selected(nullptr, kAll, 0.5);
  return 0;
}
int otherThread(const sonde_job* job, const sonde_value*) {
  int result = 0;
  std::thread([&] { result = job->scale_selected(job, kAll, 0.5); }).join();
  return result;
}
int throwing(const sonde_job*, const sonde_value*) {
  throw std::runtime_error("the plugin\nthrew");
}
int failing(const sonde_job*, const sonde_value*) {
  return 17;
}
int invalid(const sonde_job* job, const sonde_value*) {
  return job->fail(job, SONDE_INVALID, "these settings contradict each other");
}
int missing(const sonde_job* job, const sonde_value*) {
  return job->fail(job, SONDE_MISSING, "the trace has no cache misses");
}
int wrongStatus(const sonde_job* job, const sonde_value*) {
  return job->fail(job, 99, "no reason");
}
int manyNotes(const sonde_job* job, const sonde_value*) {
  for (int i = 0; i < 100; ++i)
    job->note(job, "again");
  return 0;
}
int idle(const sonde_job* job, const sonde_value*) {
  return job->note(job, "a note\nwith \xff bytes");
}

const sonde_setting settings[] = {{"number", "a number", SONDE_NUMBER, "1"},
                                  {"fraction", "a fraction", SONDE_FRACTION, "0.5"},
                                  {"time", "a time", SONDE_TIME, "1ms"},
                                  {"size", "a size", SONDE_SIZE, "1MiB"},
                                  {"text", "a text", SONDE_TEXT, "word"}};

// All settings have their values: it is an error otherwise.
int settled(const sonde_job* job, const sonde_value* values) {
  const bool isRight = values[0].number == 2.5 && values[1].number == 0.25 &&
                       values[2].number == 3e6 && values[3].number == 1 << 20 &&
                       values[4].text[0] == 'x' && values[0].is_given != 0 &&
                       values[3].is_given == 0;
  return isRight ? job->scale_selected(job, kAll, values[0].number) : 1;
}

#define QUESTION(name, function) \
  { name, "has a fault", nullptr, 0, nullptr, 0, function }

const sonde_question questions[] = {QUESTION("unknown-id", unknownId),
                                    QUESTION("no-id", noId),
                                    QUESTION("negative-time", negativeTime),
                                    QUESTION("huge-time", hugeTime),
                                    QUESTION("huge-sum", hugeSum),
                                    QUESTION("not-a-number", notANumber),
                                    QUESTION("infinite", infinite),
                                    QUESTION("wrong-error", wrongError),
                                    QUESTION("null-selector", nullSelector),
                                    QUESTION("wrong-selector", wrongSelector),
                                    QUESTION("nothing", nothing),
                                    QUESTION("null-job", nullJob),
                                    QUESTION("other-thread", otherThread),
                                    QUESTION("throwing", throwing),
                                    QUESTION("failing", failing),
                                    QUESTION("invalid", invalid),
                                    QUESTION("missing", missing),
                                    QUESTION("wrong-status", wrongStatus),
                                    QUESTION("many-notes", manyNotes),
                                    QUESTION("idle", idle),
                                    {"settled", "has settings", settings, 5, nullptr, 0, settled}};

}  // namespace

extern "C" SONDE_QUESTION_EXPORT const sonde_question_plugin sonde_question_descriptor = {
    SONDE_QUESTION_HEAD, "faults", "1.0", questions, sizeof questions / sizeof questions[0]};
