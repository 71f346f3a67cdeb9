#include "analysis/ingest/nsight/nsight_samples.h"

#include "analysis/ingest/input/external_sorter.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace sonde::ingest {
namespace {

using Column = NsightTable::Column;
using Type = NsightTable::Type;

constexpr std::size_t kInMemory = 300'000;    // of the largest record, 17 MB
constexpr std::size_t kRemembered = 300'000;  // frames and stacks remembered to avoid duplicates
constexpr std::size_t kGaps = 100'000;        // gaps between samples used for the median

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();

struct Sample {
  std::int64_t id;
  std::int64_t ns;
  std::int64_t thread;
};

struct FrameOfSample {
  std::int64_t sample;
  std::int64_t depth;   // 0: innermost frame
  std::int64_t symbol;  // kNone: unknown
  std::int64_t module;  // kNone: unknown
  std::int64_t address;
  bool isUnresolved;
  bool isKernel;
  bool isMark;  // not a frame, but a note of the unwinder: "[Broken backtraces]"
};

struct ById {
  bool operator()(const Sample& a, const Sample& b) const noexcept {
    return std::tie(a.id, a.ns) < std::tie(b.id, b.ns);
  }
};

struct OutermostFirst {
  bool operator()(const FrameOfSample& a, const FrameOfSample& b) const noexcept {
    return std::tie(a.sample, b.depth) < std::tie(b.sample, a.depth);
  }
};

// Stores each stack once, as far as it remembers them.
class StackRows {
 public:
  explicit StackRows(NsightContext& context) : context_(context) {}

  // The stack of `frame` called by `caller` (0: none).
  Result<model::StackId> called(model::StackId caller, const FrameOfSample& frame) {
    SONDE_TRY_ASSIGN(const model::FrameId id, frameId(frame));
    if (stacks_.size() >= kRemembered)
      stacks_.clear();
    const auto [known, fresh] = stacks_.try_emplace({caller.value, id.value});
    if (fresh) {
      model::Stack row;
      row.parentId = caller;
      row.frameId = id;
      SONDE_TRY_ASSIGN(known->second, context_.writer.add(row));
    }
    return known->second;
  }

 private:
  // Uses the address if there is no better name.
  Result<model::FrameId> frameId(const FrameOfSample& frame) {
    if (frames_.size() >= kRemembered)
      frames_.clear();
    const std::int64_t address = frame.isUnresolved ? frame.address : 0;
    const auto [known, fresh] =
        frames_.try_emplace({frame.symbol, frame.module, address, frame.isKernel});
    if (fresh) {
      model::Frame row;
      row.kind = frame.isKernel ? model::FrameKind::Kernel : model::FrameKind::Native;
      const bool isNamed = frame.symbol != kNone;
      SONDE_TRY_ASSIGN(row.nameId,
                       context_.names.id(isNamed ? frame.symbol : model::OptionalInt()));
      if (frame.module != kNone) {
        SONDE_TRY_ASSIGN(row.pathId, context_.names.id(frame.module));
      }
      if (address != 0)
        row.address = address;
      SONDE_TRY_ASSIGN(known->second, context_.writer.add(row));
    }
    return known->second;
  }

  NsightContext& context_;
  // symbol, module, address, in the kernel
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, bool>, model::FrameId> frames_;
  std::map<std::pair<std::int64_t, std::int64_t>, model::StackId> stacks_;  // caller, frame
};

class Samples {
 public:
  Samples(NsightContext& context, const std::filesystem::path& scratch)
      : context_(context),
        samples_(scratch, kInMemory),
        frames_(scratch, kInMemory),
        stacks_(context) {}

  Result<void> readSamples() {
    constexpr std::array<Column, 3> kColumns = {{{"id", Type::Integer, true},
                                                 {"start", Type::Integer, true},
                                                 {"globalTid", Type::Integer, true}}};
    return context_.read(
        "COMPOSITE_EVENTS", kColumns, "cpu_sample", [&](const NsightTable& row) -> Result<void> {
          const auto ns = context_.timeOf(*row.integer(1));
          if (!ns)
            return {};
          const ImportedPlaces::Track& track = context_.thread(*row.integer(2));
          context_.places.cover(track, *ns, *ns);
          noteGap(track.thread.value, *ns);
          return samples_.add({*row.integer(0), *ns, track.thread.value});
        });
  }

  Result<void> readFrames() {
    enum : std::size_t { Id, Depth, Symbol, Module, Address, Unresolved, Kernel, Mark };
    constexpr std::array<Column, 8> kColumns = {{{"id", Type::Integer, true},
                                                 {"stackDepth", Type::Integer, true},
                                                 {"symbol"},
                                                 {"module"},
                                                 {"originalIP"},
                                                 {"unresolved"},
                                                 {"kernelMode"},
                                                 {"specialEntry"}}};
    return context_.readParts("SAMPLING_CALLCHAINS", kColumns, [&](const NsightTable& row) {
      return frames_.add({*row.integer(Id),
                          *row.integer(Depth),
                          row.integer(Symbol).value_or(kNone),
                          row.integer(Module).value_or(kNone),
                          row.integer(Address).value_or(0),
                          row.integer(Unresolved).value_or(0) != 0,
                          row.integer(Kernel).value_or(0) != 0,
                          row.integer(Mark).value_or(0) != 0});
    });
  }

  Result<void> store() {
    SONDE_TRY(samples_.sort());
    SONDE_TRY(frames_.sort());
    const std::int64_t weightNs = typicalGap();
    SONDE_TRY_ASSIGN(hasFrame_, frames_.next(frame_));
    for (Sample sample{};;) {
      SONDE_TRY_ASSIGN(const bool more, samples_.next(sample));
      if (!more)
        return {};
      model::StackSample row;
      row.threadId = model::ThreadId{sample.thread};
      row.tsNs = sample.ns;
      row.weight = weightNs;
      SONDE_TRY(unwind(sample.id, row));
      SONDE_TRY(context_.writer.add(row));
    }
  }

 private:
  // Stores the frames of a sample. Frames without a sample are dropped.
  Result<void> unwind(std::int64_t sample, model::StackSample& row) {
    while (hasFrame_ && frame_.sample <= sample) {
      if (frame_.sample == sample && frame_.isMark) {
        row.truncated = true;
      } else if (frame_.sample == sample) {
        SONDE_TRY_ASSIGN(row.stackId, stacks_.called(row.stackId, frame_));
      }
      SONDE_TRY_ASSIGN(hasFrame_, frames_.next(frame_));
    }
    return {};
  }

  void noteGap(std::int64_t thread, std::int64_t ns) {
    const auto [last, fresh] = last_.try_emplace(thread, ns);
    if (!fresh && ns > last->second && gaps_.size() < kGaps)
      gaps_.push_back(ns - last->second);
    last->second = ns;
  }

  // An export does not contain the sampling period. While a thread runs, its samples are one period
  // apart, and a sampled thread mostly runs: so the median gap is the period.
  std::int64_t typicalGap() {
    if (gaps_.empty())
      return 0;
    const auto middle = gaps_.begin() + static_cast<std::ptrdiff_t>(gaps_.size() / 2);
    std::nth_element(gaps_.begin(), middle, gaps_.end());
    return *middle;
  }

  NsightContext& context_;
  ExternalSorter<Sample, ById> samples_;
  ExternalSorter<FrameOfSample, OutermostFirst> frames_;
  StackRows stacks_;
  FrameOfSample frame_{};  // the next one to read
  bool hasFrame_ = false;
  std::map<std::int64_t, std::int64_t> last_;  // ns of each thread's last sample
  std::vector<std::int64_t> gaps_;
};

}  // namespace

Result<void> importNsightSamples(NsightContext& context, const std::filesystem::path& scratch) {
  Samples samples(context, scratch);
  SONDE_TRY(samples.readSamples());
  SONDE_TRY(samples.readFrames());
  return samples.store();
}

}  // namespace sonde::ingest
