#include "analysis/export/chrome/chrome_exporter.h"

#include "analysis/export/timeline.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <string>
#include <unordered_map>

#include <nlohmann/json.hpp>

namespace sonde::exports {
namespace {

// The category of arrows from a launch; torch.profiler's name.
constexpr std::string_view kLaunchCategory = "ac2g";
constexpr std::int64_t kLineStep = 1LL << 32;  // between the tids of two lines of a track

class ChromeWriter : public TimelineVisitor {
 public:
  ChromeWriter(OutputFile& output, std::int64_t baseNs) noexcept
      : output_(output), baseNs_(baseNs) {}

  Result<void> begin();
  // `devices`: a JSON array, or empty.
  Result<void> end(const std::string& devices);

  Result<void> process(const TimelineProcess& process) override;
  Result<void> track(const TimelineTrack& track) override;
  Result<void> span(const TimelineSpan& span) override;
  Result<void> counter(const TimelineCounter& counter) override;
  Result<void> sample(std::int64_t ns, double value, model::OptionalInt iteration) override;

 private:
  template <typename... Values>
  void put(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(line_), format, std::forward<Values>(values)...);
  }
  void putTime(std::string_view key, std::int64_t ns);
  void beginEvent(char phase);
  Result<void> endEvent();
  const std::string& quoted(std::string_view text);
  void metadata(std::string_view name, std::int64_t pid, std::int64_t tid);
  Result<void> nameLine(std::int64_t shownTid, std::string_view name, model::OptionalInt tid);
  Result<std::int64_t> lineOf(const TimelineSpan& span);
  void putSpan(char phase, const TimelineSpan& span, std::int64_t tid);
  Result<void> flow(const TimelineSpan& span, const FlowEnd& end, std::int64_t tid);

  OutputFile& output_;
  std::int64_t baseNs_;
  fmt::memory_buffer line_;
  bool first_ = true;
  std::unordered_map<std::string, std::string> quoted_;
  std::int64_t pid_ = 0;  // of the current track or counter
  std::int64_t tid_ = 0;
  TimelineTrack::Kind track_ = TimelineTrack::Kind::Thread;
  std::string name_;
  std::string place_;  // members common to all its spans
  std::int64_t lanes_ = 1;
  std::int64_t asyncId_ = 0;
  std::string counter_;  // members common to all its samples
  std::string unit_;
  int ranks_ = 0;
  model::OptionalInt rank_{};
  model::OptionalInt worldSize_{};
};

// Names repeat, so they are cached; arguments do not, and already are JSON.
const std::string& ChromeWriter::quoted(std::string_view text) {
  using nlohmann::json;
  auto [entry, isNew] = quoted_.try_emplace(std::string(text));
  if (isNew)
    entry->second = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  return entry->second;
}

Result<void> ChromeWriter::begin() {
  return output_.write(fmt::format(R"({{"schemaVersion":1,"sonde":1,"displayTimeUnit":"ms",)"
                                   R"("baseTimeNanoseconds":{},"traceEvents":[)"
                                   "\n",
                                   baseNs_));
}

Result<void> ChromeWriter::end(const std::string& devices) {
  std::string rest = "\n]";
  if (!devices.empty())
    rest += fmt::format(R"(,"deviceProperties":{})", devices);
  if (ranks_ == 1)
    rest += fmt::format(R"(,"distributedInfo":{{"rank":{}{}}})",
                        *rank_,
                        worldSize_ ? fmt::format(R"(,"world_size":{})", *worldSize_) : "");
  return output_.write(rest + "}\n");
}

void ChromeWriter::beginEvent(char phase) {
  line_.clear();
  put(R"({}{{"ph":"{}")", first_ ? "" : ",\n", phase);
  first_ = false;
}

Result<void> ChromeWriter::endEvent() {
  line_.push_back('}');
  return output_.write({line_.data(), line_.size()});
}

void ChromeWriter::putTime(std::string_view key, std::int64_t ns) {
  const bool negative = ns < 0;
  const std::uint64_t size =
      negative ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  put(R"(,"{}":{}{}.{:03})", key, negative ? "-" : "", size / 1000, size % 1000);
}

void ChromeWriter::metadata(std::string_view name, std::int64_t pid, std::int64_t tid) {
  beginEvent('M');
  put(R"(,"name":"{}","pid":{},"tid":{},"args":)", name, pid, tid);
}

Result<void> ChromeWriter::process(const TimelineProcess& process) {
  metadata("process_name", process.shownPid, 0);
  put(R"({{"name":{},"pid":{},"host":{},"host_id":{})",
      quoted(process.name),
      process.pid,
      quoted(process.host),
      process.hostId.value);
  if (process.rank) {
    put(R"(,"rank":{})", *process.rank);
    ++ranks_;
    rank_ = process.rank;
    worldSize_ = process.worldSize;
  }
  if (process.worldSize)
    put(R"(,"world_size":{})", *process.worldSize);
  put("}}");
  SONDE_TRY(endEvent());
  if (!process.rank)
    return {};
  metadata("process_labels", process.shownPid, 0);
  put(R"({{"labels":"rank {}"}})", *process.rank);
  SONDE_TRY(endEvent());
  metadata("process_sort_index", process.shownPid, 0);
  put(R"({{"sort_index":{}}})", *process.rank);
  return endEvent();
}

Result<void> ChromeWriter::track(const TimelineTrack& track) {
  pid_ = track.shownPid;
  tid_ = track.shownTid;
  track_ = track.kind;
  name_ = track.name;
  lanes_ = 1;
  place_.clear();
  if (track.stream)
    place_ = fmt::format(R"(,"device":{},"stream":{})", track.device.value_or(0), *track.stream);
  else if (track.kind == TimelineTrack::Kind::Stream)
    place_ = R"(,"stream":-1)";
  return nameLine(track.shownTid, track.name, track.tid);
}

Result<void> ChromeWriter::nameLine(std::int64_t shownTid,
                                    std::string_view name,
                                    model::OptionalInt tid) {
  metadata("thread_name", pid_, shownTid);
  put(R"({{"name":{})", quoted(name));
  if (tid)
    put(R"(,"tid":{})", *tid);
  put("}}");
  return endEvent();
}

// A thread's spans that overlap without nesting become asynchronous events, since viewers drop one
// of two overlapping `X`. Those of a stream or connection get lines of their own.
Result<std::int64_t> ChromeWriter::lineOf(const TimelineSpan& span) {
  if (track_ == TimelineTrack::Kind::Thread || span.lane == 0)
    return tid_;
  for (; lanes_ <= span.lane; ++lanes_)
    SONDE_TRY(nameLine(tid_ + lanes_ * kLineStep, fmt::format("{} ({})", name_, lanes_ + 1), {}));
  return tid_ + span.lane * kLineStep;
}

void ChromeWriter::putSpan(char phase, const TimelineSpan& span, std::int64_t tid) {
  beginEvent(phase);
  put(R"(,"cat":{},"name":{},"pid":{},"tid":{})",
      quoted(span.category),
      quoted(span.name),
      pid_,
      tid);
  putTime("ts", span.startNs - baseNs_);
  put(R"(,"kind":"{}"{})", span.kind, place_);
  if (span.iteration)
    put(R"(,"iteration":{})", *span.iteration);
  if (span.launcher)
    put(R"(,"launcher":{})", *span.launcher);
}

Result<void> ChromeWriter::span(const TimelineSpan& span) {
  const bool isMark = span.kind == "mark";
  const bool nests = span.lane == 0 || track_ != TimelineTrack::Kind::Thread;
  SONDE_TRY_ASSIGN(const std::int64_t tid, lineOf(span));
  putSpan(isMark ? 'i' : !nests ? 'b' : span.drawnNs ? 'X' : 'B', span, tid);
  if (isMark)
    put(R"(,"s":"t")");
  else if (!nests)
    put(R"(,"id":{})", ++asyncId_);
  else if (span.drawnNs)
    putTime("dur", *span.drawnNs);
  if (!span.args.empty())
    put(R"(,"args":{})", span.args);
  SONDE_TRY(endEvent());
  if (!isMark && !nests && span.drawnNs) {
    beginEvent('e');
    put(R"(,"cat":{},"name":{},"pid":{},"tid":{},"id":{})",
        quoted(span.category),
        quoted(span.name),
        pid_,
        tid_,
        asyncId_);
    putTime("ts", span.startNs + *span.drawnNs - baseNs_);
    SONDE_TRY(endEvent());
  }
  for (const FlowEnd& end : span.flows)
    SONDE_TRY(flow(span, end, tid));
  return {};
}

Result<void> ChromeWriter::flow(const TimelineSpan& span, const FlowEnd& end, std::int64_t tid) {
  beginEvent(end.begins ? 's' : 'f');
  const std::string_view category = end.kind == kLaunch ? kLaunchCategory : end.kind;
  put(R"(,"id":{},"cat":{},"name":{},"pid":{},"tid":{})",
      end.id,
      quoted(category),
      quoted(category),
      pid_,
      tid);
  putTime("ts", span.startNs - baseNs_);
  if (track_ == TimelineTrack::Kind::Thread)
    put(R"(,"lane":{},"depth":{})", span.lane, span.depth);
  if (!end.begins)
    put(R"(,"bp":"e")");
  return endEvent();
}

Result<void> ChromeWriter::counter(const TimelineCounter& counter) {
  counter_ = fmt::format(R"(,"cat":"{}","name":{},"pid":{},"kind":"{}")",
                         counter.kind,
                         quoted(counter.name),
                         counter.shownPid.value_or(0),
                         counter.kind);
  unit_ = quoted(counter.unit.empty() ? "value" : counter.unit);
  return {};
}

// JSON has no NaN or infinity.
Result<void> ChromeWriter::sample(std::int64_t ns, double value, model::OptionalInt iteration) {
  if (!std::isfinite(value))
    return {};
  beginEvent('C');
  line_.append(counter_);
  putTime("ts", ns - baseNs_);
  if (iteration)
    put(R"(,"iteration":{})", *iteration);
  put(R"(,"args":{{{}:{}}})", unit_, nlohmann::json(value).dump());
  return endEvent();
}

// The devices in torch.profiler's form, with their owners; empty: nothing is known of any.
Result<std::string> devicesOf(const store::Database& trace) {
  constexpr std::string_view kDevices =
      "SELECT coalesce(json_group_array(json_patch(json_object('id', d.ordinal), json_object("
      "'name', d.name, 'totalGlobalMem', d.memory_bytes, 'uuid', d.uuid, 'kind', d.kind, 'host', "
      "h.name, 'host_id', h.id))) FILTER (WHERE coalesce(d.name, d.memory_bytes, d.uuid) IS NOT "
      "NULL), '[]') "
      "FROM device d JOIN host h ON h.id = d.host_id";
  SONDE_TRY_ASSIGN(std::string devices, trace.queryText(kDevices));
  return devices == "[]" ? std::string() : devices;
}

}  // namespace

Result<void> exportChrome(const store::Database& trace,
                          OutputFile& output,
                          const Progress& progress) {
  SONDE_TRY_ASSIGN(const std::int64_t baseNs,
                   trace.queryInteger("SELECT coalesce((SELECT CAST(value AS INTEGER) FROM meta "
                                      "WHERE key = 'origin_ns'), 0)"));
  ChromeWriter writer(output, baseNs);
  SONDE_TRY(writer.begin());
  SONDE_TRY(visitTimeline(trace, writer, progress));
  SONDE_TRY_ASSIGN(const std::string devices, devicesOf(trace));
  return writer.end(devices);
}

}  // namespace sonde::exports
