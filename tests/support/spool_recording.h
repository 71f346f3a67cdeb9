// Records a program through libsonde_preload.so alone, without a recorder: a session page, a
// program, and then the content of its spool files, with names resolved and scopes paired. For
// tests of probes.
#pragma once

#include "collector/wire/words.h"
#include "recorder/spool_file/spool_reader.h"
#include "tests/support/run_program.h"
#include "tests/support/spool_folder.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sonde::test {

struct RecordedSlice {
  std::string name;
  wire::SliceKind kind = wire::SliceKind::Operation;
  std::uint32_t thread = 0;
  std::uint64_t begin = 0;  // ticks
  std::uint64_t end = 0;    // 0: never closed
  std::uint32_t endThread = 0;
  std::uint32_t depth = 0;  // scopes open on the thread when it began
  std::map<std::string, std::string> args;
};

struct RecordedCollective {
  wire::CollectiveOp op = wire::CollectiveOp::Allreduce;
  std::string name;
  std::string key;
  std::vector<std::int32_t> members;
  std::int32_t size = 0;
  std::int32_t position = -1;
  std::uint64_t seq = 0;
  std::uint64_t bytes = 0;
  std::uint64_t sendBytes = 0;
  std::uint64_t recvBytes = 0;
  std::int32_t root = -1;
  std::string algorithm;
  std::uint32_t thread = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::int32_t peer = -1;
  std::string protocol;
  std::uint8_t channels = 0;
  std::uint8_t flags = 0;
  std::uint64_t number = 0;
};

// The latest end of a collective, by its number.
struct RecordedEnd {
  std::uint64_t ticks = 0;
  bool unfinished = false;
};

struct RecordedChannel {
  wire::ChannelKind kind = wire::ChannelKind::Tcp;
  bool inherited = false;
  std::string local;
  std::string remote;
};

struct RecordedTransfer {
  RecordedChannel channel;
  bool receive = false;
  bool exact = true;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint32_t thread = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct RecordedStep {
  RecordedChannel channel;
  bool receive = false;
  bool exact = true;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t collective = 0;
  std::uint32_t step = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct RecordedExec {
  std::string path;
  std::string reason;  // empty: followed
};

struct RecordedProcess {
  recorder::SpoolIdentity identity;
  std::vector<RecordedSlice> slices;  // scopes, calls and ranges in reading order
  std::vector<RecordedSlice> marks;
  std::uint32_t strayRangeEnds = 0;  // of ranges without a begin
  std::vector<RecordedCollective> collectives;
  std::vector<RecordedTransfer> transfers;
  std::vector<RecordedStep> steps;
  std::map<std::uint64_t, RecordedEnd> ends;
  std::vector<std::int32_t> forks;
  std::vector<RecordedExec> execs;
  std::map<std::string, std::string> texts;  // of the process
  std::map<std::uint32_t, std::string> threadNames;
  recorder::LossTable losses{};

  const RecordedSlice& slice(
      const std::string& name) const;  // the first one; an empty one if there is none
  std::uint64_t lost(wire::Probe probe) const;
};

class SpoolRecording {
 public:
  // Runs `words` with the library in front and `settings` ("NAME=value") in its environment.
  Finished run(const std::vector<std::string>& words,
               const std::vector<std::string>& settings = {});
  std::vector<std::string> environment() const;

  // Every process image that has recorded, by pid.
  std::vector<RecordedProcess> read() const;
  // Turns the probes of later processes on or off.
  void setProbes(std::uint32_t mask);

 private:
  SpoolFolder folder_{64u << 20};
};

// Where the build put the library.
std::string preloadLibrary();

}  // namespace sonde::test
