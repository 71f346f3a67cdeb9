#include "plugins/host/questions/question_calls.h"

#include "analysis/engine/whatif/works/job_works.h"
#include "plugins/host/descriptor.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace sonde::plugins {
namespace {

namespace whatif = engine::whatif;
using whatif::Work;

constexpr std::size_t kMostNoteBytes = 1000;
constexpr std::size_t kMostNotes = 20;
constexpr int kFailed = SONDE_INVALID;

// The state of one question while it is asked. The plugin sees the table that it begins with.
struct AskedJob : sonde_job {
  explicit AskedJob(whatif::Asking& of);

  whatif::Asking& asking;
  whatif::JobWorks works;
  std::optional<Error> error;  // the first one
  bool hasChanged = false;
  std::size_t notes = 0;
  // The results of select().
  std::deque<std::vector<Work>> kept;
  std::deque<std::vector<sonde_work>> arrays;
};

// The one that this thread asks now. A plugin may keep its table, and call when it is gone.
thread_local AskedJob* askedNow = nullptr;

int failWith(AskedJob& job, const char* function, const Error& error) {
  if (!job.error)
    job.error = Error{error.code, fmt::format("{}: {}", function, error.message)};
  return kFailed;
}

int failWith(AskedJob& job, const char* function, const std::string& message) {
  return failWith(job, function, Error{ErrorCode::InvalidArgument, message});
}

// Calls `act` with the job, unless there is none or an earlier call failed.
template <typename Act>
int guarded(const sonde_job* table, const char* function, Act act) {
  AskedJob* const job = askedNow;
  if (job == nullptr)
    return kFailed;
  if (table != job)
    return failWith(*job, function, "its first argument is not the job");
  if (job->error)
    return kFailed;
  if (const Result<void> done = act(*job); !done)
    return failWith(*job, function, done.error());
  return 0;
}

// The same for a function that changes the job.
template <typename Act>
int changing(const sonde_job* table, const char* function, Act act) {
  return guarded(table, function, [&](AskedJob& job) {
    job.hasChanged = true;
    return act(job.works);
  });
}

Error nullPointer(const char* what) {
  return {ErrorCode::InvalidArgument, fmt::format("{} is a null pointer", what)};
}

sonde_work workOf(const Work& work) {
  return {.id = work.id,
          .kind = static_cast<std::uint32_t>(work.kind) + SONDE_WORK_HOST,
          .reserved = 0,
          .name = work.name.c_str(),
          .lane = work.lane.c_str(),
          .rank = work.rank,
          .iteration = work.iteration,
          .begin_ns = work.beginNs,
          .measured_ns = work.measuredNs,
          .now_ns = work.nowNs};
}

Result<void> selectInto(AskedJob& job,
                        const char* selector,
                        const sonde_work** works,
                        std::size_t* count) {
  if (selector == nullptr || works == nullptr || count == nullptr)
    return nullPointer("an argument");
  *works = nullptr;
  *count = 0;
  auto found = job.works.select(selector);
  if (!found && found.error().code == ErrorCode::NotFound)
    return {};
  if (!found)
    return found.error();
  job.kept.push_back(*std::move(found));
  std::vector<sonde_work>& array = job.arrays.emplace_back();
  for (const Work& work : job.kept.back())
    array.push_back(workOf(work));
  *works = array.data();
  *count = array.size();
  return {};
}

int selectWork(const sonde_job* job,
               const char* selector,
               const sonde_work** works,
               size_t* count) {
  return guarded(
      job, "select", [&](AskedJob& of) { return selectInto(of, selector, works, count); });
}

int scaleWork(const sonde_job* job, uint64_t work, double factor) {
  return changing(job, "scale", [&](whatif::JobWorks& of) { return of.scale(work, factor); });
}

int setWork(const sonde_job* job, uint64_t work, int64_t ns) {
  return changing(job, "set", [&](whatif::JobWorks& of) { return of.set(work, ns); });
}

int removeWork(const sonde_job* job, uint64_t work) {
  return changing(job, "remove", [&](whatif::JobWorks& of) { return of.remove(work); });
}

int insertWork(const sonde_job* job, uint64_t work, int64_t ns) {
  return changing(job, "insert", [&](whatif::JobWorks& of) { return of.insert(work, ns); });
}

int scaleSelected(const sonde_job* job, const char* selector, double factor) {
  return changing(job, "scale_selected", [&](whatif::JobWorks& of) {
    return selector == nullptr ? nullPointer("the selector") : of.scaleSelected(selector, factor);
  });
}

int setSelected(const sonde_job* job, const char* selector, int64_t ns) {
  return changing(job, "set_selected", [&](whatif::JobWorks& of) {
    return selector == nullptr ? nullPointer("the selector") : of.setSelected(selector, ns);
  });
}

int removeSelected(const sonde_job* job, const char* selector) {
  return changing(job, "remove_selected", [&](whatif::JobWorks& of) {
    return selector == nullptr ? nullPointer("the selector") : of.removeSelected(selector);
  });
}

int addNote(const sonde_job* job, const char* text) {
  return guarded(job, "note", [&](AskedJob& of) -> Result<void> {
    if (text == nullptr)
      return nullPointer("the text");
    if (++of.notes > kMostNotes)
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("there are more than {} notes", kMostNotes)};
    of.asking.notes.push_back(lineOf(text, kMostNoteBytes));
    return {};
  });
}

int setModelError(const sonde_job* job, double error) {
  return guarded(job, "model_error", [&](AskedJob& of) -> Result<void> {
    if (!(error >= 0 && error <= 1))
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("an error of {} is not between 0 and 1", error)};
    of.asking.modelError = std::max(of.asking.modelError, error);
    return {};
  });
}

int failBecause(const sonde_job* job, int status, const char* reason) {
  return guarded(job, "fail", [&](AskedJob& of) -> Result<void> {
    if (reason == nullptr)
      return nullPointer("the reason");
    if (status != SONDE_INVALID && status != SONDE_MISSING)
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("the status {} is neither SONDE_INVALID nor SONDE_MISSING", status)};
    of.error = Error{status == SONDE_MISSING ? ErrorCode::NotFound : ErrorCode::InvalidArgument,
                     lineOf(reason, kMostNoteBytes)};
    return *of.error;
  });
}

AskedJob::AskedJob(whatif::Asking& of) : sonde_job{}, asking(of), works(of) {
  std::set<std::int64_t> numbers;
  std::map<std::int64_t, std::int64_t> counts;  // by process
  for (const engine::graph::IterationNodes& each : of.scenario.job().iterations) {
    numbers.insert(each.rank);
    iterations = std::max(iterations, ++counts[each.processId]);
  }
  static_cast<sonde_job&>(*this) = {
      .abi = SONDE_QUESTION_ABI,
      .size = sizeof(sonde_job),
      .ranks = std::max<std::int64_t>(1, static_cast<std::int64_t>(numbers.size())),
      .iterations = iterations,
      .select = selectWork,
      .scale = scaleWork,
      .set = setWork,
      .remove = removeWork,
      .insert = insertWork,
      .scale_selected = scaleSelected,
      .set_selected = setSelected,
      .remove_selected = removeSelected,
      .note = addNote,
      .model_error = setModelError,
      .fail = failBecause};
}

// Its result; nullopt with an error in `job`: it threw.
std::optional<int> callPlugin(AskedJob& job,
                              const sonde_question& question,
                              const std::vector<sonde_value>& values) {
  askedNow = &job;
  std::optional<int> result;
  try {
    result = question.ask(&job, values.data());
  } catch (const std::exception& thrown) {
    failWith(
        job, "ask", std::string("it threw an exception: ") + lineOf(thrown.what(), kMostNoteBytes));
  } catch (...) {
    failWith(job, "ask", std::string("it threw an exception"));
  }
  askedNow = nullptr;
  return result;
}

}  // namespace

Result<void> askPlugin(const std::string& plugin,
                       const sonde_question& question,
                       const std::vector<whatif::SettingValue>& values,
                       whatif::Asking& asking) {
  std::vector<sonde_value> passed;
  for (const whatif::SettingValue& each : values)
    passed.push_back({each.text.c_str(), each.number, each.isGiven ? 1 : 0});
  AskedJob job(asking);
  const std::optional<int> result = callPlugin(job, question, passed);
  if (!job.error && result.value_or(0) != 0)
    job.error =
        Error{ErrorCode::InvalidArgument, fmt::format("it failed with {} and no reason", *result)};
  if (job.error)
    return Error{
        job.error->code,
        fmt::format("question '{}' of plugin {}: {}", question.name, plugin, job.error->message)};
  if (!job.hasChanged)
    asking.notes.push_back(fmt::format("the question '{}' changed nothing", question.name));
  return {};
}

}  // namespace sonde::plugins
