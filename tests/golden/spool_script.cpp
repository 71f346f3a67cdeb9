#include "tests/golden/spool_script.h"

#include "analysis/ingest/rows/wire_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iomanip>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>

namespace sonde::test {
namespace {

// No process can have such an id: images must look dead on any machine.
constexpr std::int32_t kNoPid = 1 << 22;

class Words {
 public:
  explicit Words(const std::string& line) : line_(line.substr(0, line.find('#'))) {}

  std::string text() {
    std::string word;
    good_ = (line_ >> std::quoted(word)) && good_;
    return word;
  }
  template <typename Number>
  Number number() {
    Number value{};
    good_ = (line_ >> value) && good_;
    return value;
  }
  std::uint64_t ticks() { return number<std::uint64_t>(); }
  bool more() { return static_cast<bool>(line_ >> std::ws) && !line_.eof(); }
  void fail() { good_ = false; }
  bool good() const { return good_; }

 private:
  std::istringstream line_;
  bool good_ = true;
};

// The number whose word in the store is `text`.
template <typename WordOf>
std::uint8_t numberOf(Words& words, std::uint8_t count, WordOf wordOf) {
  const std::string text = words.text();
  for (std::uint8_t number = 0; number < count; ++number)
    if (wordOf(number) == text)
      return number;
  words.fail();
  return 0;
}

template <typename Of>
std::uint8_t modelNumber(Words& words, Of of) {
  return numberOf(words, 32, [&](std::uint8_t number) {
    const auto value = of(number);
    return value ? model::word(*value) : std::string_view("?");
  });
}

class Script {
 public:
  Result<ScriptedRun> run(const std::string& text) {
    std::istringstream lines(text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      Words words(line);
      if (words.more() && !(act(words) && words.good() && !words.more()))
        return Error{ErrorCode::InvalidArgument, fmt::format("line {}: {}", number, line)};
    }
    return std::move(run_);
  }

 private:
  using Verb = void (Script::*)(Words&);
  static const std::map<std::string_view, Verb> kVerbs;

  bool act(Words& words) {
    const std::string name = words.text();
    const auto verb = kVerbs.find(name);
    if (verb == kVerbs.end() || (run_.images.empty() && name != "image" && name != "recorder"))
      return false;
    (this->*verb->second)(words);
    return true;
  }

  SpoolBuilder& spool() { return run_.images.back(); }
  recorder::ProcessFacts& facts() { return run_.facts.back(); }

  void image(Words& words) {
    const auto pid = kNoPid + words.number<std::int32_t>();
    const auto execCount = words.number<std::uint32_t>();
    const auto startNs = words.number<std::int64_t>();
    const bool tsc = words.more();
    run_.images.emplace_back(pid, tsc ? wire::ClockKind::Tsc : wire::ClockKind::Monotonic);
    wire::FileHeader& header = spool().header();
    header.execCount = execCount;
    header.startMonotonicNs = header.startRealtimeNs = startNs;
    header.startTicks = tsc ? words.ticks() : static_cast<std::uint64_t>(startNs);
    run_.facts.emplace_back().image = {pid, header.startTime, execCount};
    open_.clear();
    channels_.clear();
    communicators_.clear();
  }
  void parent(Words& words) { spool().header().parentPid = kNoPid + words.number<std::int32_t>(); }
  void rank(Words& words) {
    facts().rank = words.number<int>();
    facts().worldSize = words.number<int>();
  }
  void exited(Words& words) { facts().exitStatus = words.number<int>(); }
  void killed(Words& words) {
    facts().exitSignal = words.number<int>();
    facts().exitStatus = 128 + *facts().exitSignal;
  }
  void recorder(Words& words) {
    run_.recorder.ticks = words.ticks();
    run_.recorder.monotonicNs = run_.recorder.realtimeNs = words.number<std::int64_t>();
  }
  void thread(Words& words) {
    const auto index = words.number<std::uint32_t>();
    spool().thread(index, words.number<std::int32_t>(), spool().header().startTicks);
    if (words.more())
      spool().threadName(index, words.text());
  }
  void slot(Words& words) {
    const auto index = words.number<std::uint32_t>();
    std::vector<wire::OpenScope> scopes;
    for (const Open& open : open_[index])
      scopes.push_back(open.scope);
    spool().slot(spool().openSlot(index, scopes)).claimTicks = words.ticks();
  }

  void begin(Words& words) {
    const auto index = words.number<std::uint32_t>();
    Open open;
    open.scope.kind = static_cast<wire::SliceKind>(modelNumber(words, ingest::sliceKind));
    open.name = words.text();
    open.scope.name = spool().string(open.name);
    open.scope.beginTicks = words.ticks();
    open.scope.token = spool().begin(index, open.scope.kind, open.name, open.scope.beginTicks);
    open_[index].push_back(open);
  }
  void end(Words& words) {
    const auto index = words.number<std::uint32_t>();
    const auto token = tokenOf(words, index);
    spool().end(index, token, words.ticks());
    close(index, token);
  }
  // The end of an iteration in a run that calibrates itself: the probes that were on, and their
  // calls.
  void endProbes(Words& words) {
    const auto index = words.number<std::uint32_t>();
    const auto token = tokenOf(words, index);
    wire::ScopeEnd end{};
    end.header = {0, wire::RecordKind::ScopeEnd, wire::ScopeEnd::kProbes, token};
    end.ticks = words.ticks();
    wire::IterationProbes probes{words.number<std::uint32_t>(), 0};
    std::vector<wire::ProbeCalls> calls;
    while (words.good() && words.more()) {
      const auto probe =
          numberOf(words, static_cast<std::uint8_t>(wire::Probe::Count), [](std::uint8_t number) {
            return ingest::probeWord(static_cast<wire::Probe>(number));
          });
      const auto recorded = words.number<std::uint32_t>();
      const auto unrecorded = words.number<std::uint32_t>();
      calls.push_back({recorded, unrecorded, static_cast<wire::Probe>(probe), {}});
    }
    probes.count = static_cast<std::uint32_t>(calls.size());
    const std::size_t callBytes = calls.size() * sizeof(wire::ProbeCalls);
    std::vector<std::byte> record(sizeof end + sizeof probes + callBytes);
    end.header.size = static_cast<std::uint16_t>(record.size());
    std::memcpy(record.data(), &end, sizeof end);
    std::memcpy(record.data() + sizeof end, &probes, sizeof probes);
    if (!calls.empty())
      std::memcpy(record.data() + sizeof end + sizeof probes, calls.data(), callBytes);
    spool().append(index, record);
    close(index, token);
  }
  void endLost(Words& words) {
    const auto index = words.number<std::uint32_t>();
    close(index, tokenOf(words, index));
  }
  void close(std::uint32_t index, std::uint32_t token) {
    std::erase_if(open_[index], [&](const Open& open) { return open.scope.token == token; });
  }
  void arg(Words& words) {
    const auto index = words.number<std::uint32_t>();
    const auto token = tokenOf(words, index);
    const std::string key = words.text();
    spool().argInt(index, token, key, words.number<std::int64_t>());
  }
  // The token of the innermost open scope that the next word names; 0 for "-".
  std::uint32_t tokenOf(Words& words, std::uint32_t index) {
    const std::string name = words.text();
    const std::vector<Open>& scopes = open_[index];
    const auto found = std::find_if(
        scopes.rbegin(), scopes.rend(), [&](const Open& open) { return open.name == name; });
    if (found != scopes.rend())
      return found->scope.token;
    if (name != "-")
      words.fail();
    return 0;
  }

  void call(Words& words) {
    const auto index = words.number<std::uint32_t>();
    const auto kind = static_cast<wire::SliceKind>(modelNumber(words, ingest::sliceKind));
    const std::string name = words.text();
    const std::uint64_t beginTicks = words.ticks();
    spool().call(index, kind, name, beginTicks, words.ticks());
  }
  void range(Words& words) {
    const auto index = words.number<std::uint32_t>();
    wire::RangeBegin record{};
    record.header.detail = static_cast<std::uint8_t>(wire::SliceKind::Range);
    record.rangeId = words.number<std::uint64_t>();
    record.header.subject = spool().string(words.text());
    record.ticks = words.ticks();
    spool().add(index, wire::RecordKind::RangeBegin, record);
  }
  void rangeEnd(Words& words) {
    const auto index = words.number<std::uint32_t>();
    wire::RangeEnd record{};
    record.rangeId = words.number<std::uint64_t>();
    record.ticks = words.ticks();
    spool().add(index, wire::RecordKind::RangeEnd, record);
  }
  void mark(Words& words) {
    const auto index = words.number<std::uint32_t>();
    wire::Mark record{};
    record.header.subject = spool().string(words.text());
    record.ticks = words.ticks();
    spool().add(index, wire::RecordKind::Mark, record);
  }
  void scalar(Words& words) {
    const auto index = words.number<std::uint32_t>();
    wire::Scalar record{};
    record.header.subject = spool().string(words.text());
    record.value = words.number<double>();
    record.ticks = words.ticks();
    spool().add(index, wire::RecordKind::Scalar, record);
  }
  void work(Words& words) {
    const auto index = words.number<std::uint32_t>();
    wire::IterationInfo record{};
    record.samples = words.number<std::uint64_t>();
    record.tokens = words.number<std::uint64_t>();
    record.flops = words.number<double>();
    record.ticks = words.ticks();
    spool().add(index, wire::RecordKind::IterationInfo, record);
  }

  void communicator(Words& words) {
    const std::string key = words.text();
    const auto position = words.number<std::int32_t>();
    std::vector<std::int32_t> ranks;
    while (words.good() && words.more())
      ranks.push_back(words.number<std::int32_t>());
    communicators_[key] = spool().communicator(key, ranks, position);
  }
  void collective(Words& words) {
    const auto index = words.number<std::uint32_t>();
    wire::Collective record{};
    record.header.subject = communicators_[words.text()];
    record.header.detail = modelNumber(words, ingest::collectiveOp);
    record.seq = words.number<std::uint64_t>();
    record.bytes = record.sendBytes = record.recvBytes = words.number<std::uint64_t>();
    record.root = record.peer = -1;
    record.beginTicks = words.ticks();
    record.endTicks = words.ticks();
    record.dtype = wire::DataType::Float32;
    record.probe = wire::Probe::Gloo;
    spool().add(index, wire::RecordKind::Collective, record);
  }
  void channel(Words& words) {
    const auto kind = static_cast<wire::ChannelKind>(modelNumber(words, ingest::channelKind));
    const std::string local = words.text();
    channels_[local] = spool().channel(kind, local, words.text());
  }
  void transfer(Words& words) {
    const auto index = words.number<std::uint32_t>();
    wire::Transfer record{};
    record.header.subject = channels_[words.text()];
    const std::string direction = words.text();
    if (direction == "receive")
      record.header.detail |= wire::Transfer::kReceive;
    else if (direction != "send")
      words.fail();
    record.offset = words.number<std::uint64_t>();
    record.bytes = words.number<std::uint64_t>();
    record.beginTicks = words.ticks();
    record.endTicks = words.ticks();
    if (words.more() && words.text() == "inexact")
      record.header.detail |= wire::Transfer::kInexact;
    spool().add(index, wire::RecordKind::Transfer, record);
  }

  void sync(Words& words) {
    const auto index = words.number<std::uint32_t>();
    const std::uint64_t ticks = words.ticks();
    spool().clockSync(index, ticks, words.number<std::int64_t>());
  }
  void fork(Words& words) {
    const auto index = words.number<std::uint32_t>();
    wire::Fork record{};
    record.header.subject = static_cast<std::uint32_t>(kNoPid + words.number<std::int32_t>());
    record.ticks = words.ticks();
    spool().add(index, wire::RecordKind::Fork, record);
  }
  void exec(Words& words) {
    const auto index = words.number<std::uint32_t>();
    wire::Exec record{};
    record.header.subject = spool().string(words.text());
    record.ticks = words.ticks();
    spool().add(index, wire::RecordKind::Exec, record);
  }
  void lost(Words& words) {
    const auto probe =
        numberOf(words, static_cast<std::uint8_t>(wire::Probe::Count), [](std::uint8_t number) {
          return ingest::probeWord(static_cast<wire::Probe>(number));
        });
    const auto kind = numberOf(
        words, static_cast<std::uint8_t>(wire::RecordKind::Count), [](std::uint8_t number) {
          return ingest::recordWord(static_cast<wire::RecordKind>(number));
        });
    const auto reason = numberOf(
        words, static_cast<std::uint8_t>(wire::LossReason::Count), [](std::uint8_t number) {
          return ingest::lossWord(static_cast<wire::LossReason>(number));
        });
    spool().losses().count[probe][kind][reason].store(words.number<std::uint64_t>());
  }

  struct Open {
    std::string name;
    wire::OpenScope scope{};
  };

  ScriptedRun run_;
  // State of the last image.
  std::map<std::uint32_t, std::vector<Open>> open_;  // by thread
  std::map<std::string, std::uint32_t> channels_;    // by local
  std::map<std::string, std::uint32_t> communicators_;
};

const std::map<std::string_view, Script::Verb> Script::kVerbs = {
    {"image", &Script::image},
    {"parent", &Script::parent},
    {"rank", &Script::rank},
    {"exited", &Script::exited},
    {"killed", &Script::killed},
    {"recorder", &Script::recorder},
    {"thread", &Script::thread},
    {"slot", &Script::slot},
    {"begin", &Script::begin},
    {"end", &Script::end},
    {"end_probes", &Script::endProbes},
    {"end_lost", &Script::endLost},
    {"arg", &Script::arg},
    {"call", &Script::call},
    {"range", &Script::range},
    {"range_end", &Script::rangeEnd},
    {"mark", &Script::mark},
    {"scalar", &Script::scalar},
    {"work", &Script::work},
    {"communicator", &Script::communicator},
    {"collective", &Script::collective},
    {"channel", &Script::channel},
    {"transfer", &Script::transfer},
    {"sync", &Script::sync},
    {"fork", &Script::fork},
    {"exec", &Script::exec},
    {"lost", &Script::lost}};

}  // namespace

Result<ScriptedRun> parseSpoolScript(const std::string& text) {
  return Script().run(text);
}

}  // namespace sonde::test
