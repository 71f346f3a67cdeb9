#include "analysis/ingest/stacks/stack_rows.h"

#include "analysis/ingest/rows/record_walk.h"
#include "analysis/ingest/rows/wire_words.h"
#include "base/demangle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>

namespace sonde::ingest {
namespace {

// CPython's evaluation loop; compilers append suffixes to split-off parts.
constexpr std::string_view kLoop = "_PyEval_EvalFrameDefault";
constexpr std::array<std::string_view, 8> kStarts = {"_start",
                                                     "main",
                                                     "__libc_start_main",
                                                     "__libc_start_call_main",
                                                     "start_thread",
                                                     "clone",
                                                     "__clone",
                                                     "clone3"};

// The driver, the runtime, and the libraries below them; PyPI's packages have a hash in the name.
bool isCuda(std::string_view file) {
  for (const std::string_view name : {"libcuda.so", "libcudart.so", "libcudart-", "libcupti.so"})
    if (file.starts_with(name))
      return true;
  return false;
}

// The parts of a record.
struct SampleParts {
  wire::StackSample head{};
  std::span<const std::byte> registers;
  std::span<const std::byte> python;
  std::span<const std::byte> stack;
};

bool split(std::span<const std::byte> record, SampleParts& into) {
  into.head = loadRecord<wire::StackSample>(record.data());
  std::span<const std::byte> rest = record.subspan(sizeof into.head);
  const auto take = [&](std::size_t bytes) {
    const std::span<const std::byte> part = rest.first(std::min(bytes, rest.size()));
    rest = rest.subspan(part.size());
    return part;
  };
  constexpr std::size_t kRegisterBytes = wire::kStackRegisters * sizeof(std::uint64_t);
  const std::size_t pythonBytes = std::size_t{into.head.pythonFrames} * sizeof(wire::PythonFrame);
  into.registers = take(kRegisterBytes);
  into.python = take(pythonBytes);
  into.stack = take(into.head.header.subject);
  return into.registers.size() == kRegisterBytes && into.python.size() == pythonBytes &&
         into.stack.size() == into.head.header.subject;
}

// Removes Sonde's function in which threads begin, which calls their actual function.
void leaveOutStart(std::vector<NativeCall>& calls) {
  const auto first = std::find_if(
      calls.rbegin(), calls.rend(), [](const NativeCall& call) { return !call.begins; });
  if (first != calls.rend() && first != calls.rbegin() && first->recorder && !first->standsIn)
    calls.erase(std::next(first).base());
}

}  // namespace

static_assert(wire::kStackRegisters == kUnwindRegisters);

StackRows::StackRows(RowSink& sink,
                     TimeBase time,
                     const ProcessRow& process,
                     Dictionary& dictionary)
    : sink_(sink), time_(time), process_(process), dictionary_(dictionary), unwinder_(code_) {}

void StackRows::addCode(std::string_view lines, std::int64_t ns) {
  const std::vector<CodeRange> fresh = code_.update(parseMaps(lines));
  if (fresh.empty())
    return;
  byAddress_.clear();
  unwinder_.forget();
  for (const CodeRange& range : fresh) {
    const MappedCode* mapped = code_.find(range.start);
    const bool isFile = mapped != nullptr && mapped->file != nullptr;
    const std::string buildId = isFile ? mapped->file->buildId() : std::string();
    model::Mapping row;
    row.processId = process_.row.id;
    row.start = signedOf(range.start);
    row.end = signedOf(range.end);
    row.fileOffset = signedOf(range.fileOffset);
    row.pathId = sink_.intern(range.path);
    if (!buildId.empty())
      row.buildId = std::string_view(buildId);
    row.fromNs = ns;
    sink_.add(row);
  }
}

bool StackRows::add(model::ThreadId thread, std::span<const std::byte> record) {
  SampleParts sample;
  if (!split(record, sample))
    return false;
  const wire::StackSample& head = sample.head;
  callsOf(sample.registers, head, sample.stack);
  python_.clear();
  for (std::size_t at = 0; at < head.pythonFrames; ++at)
    python_.push_back(
        callOf(loadRecord<wire::PythonFrame>(&sample.python[at * sizeof(wire::PythonFrame)])));
  // Missing outer frames belong to the interpreter's start.
  const bool reachesOut = !python_.empty() && python_.back().isEntry;
  const bool blocked = (head.header.detail & wire::StackSample::kBlocked) != 0;
  const bool event = (head.header.detail & wire::StackSample::kEvent) != 0;
  model::StackSample row;
  row.threadId = thread;
  row.tsNs = time_.toNs(head.ticks);
  row.stackId = stackOf(mergePython(native_, python_, unwound_.complete));
  row.truncated = !unwound_.complete && !reachesOut;
  row.kind = blocked ? model::SampleKind::Blocked
             : event ? model::SampleKind::Event
                     : model::SampleKind::Cpu;
  if (head.correlation != 0)
    row.correlationId = head.correlation;
  row.weight = event ? time_.toNs(head.ticks + head.weight) - row.tsNs : signedOf(head.weight);
  sink_.add(row);
  lastNs_ = std::max(lastNs_, row.tsNs);
  if (head.otherTicks > 0 && !event)
    addOther(thread, row, head.ticks - head.otherTicks);
  return true;
}

void StackRows::addStill(model::ThreadId thread, std::int64_t ns, const StillThread& still) {
  copy_.assign(still.registers.begin(), still.registers.end());
  unwinder_.unwind({copy_, still.stack, still.stackAddress}, unwound_);
  native_.clear();
  for (const std::uint64_t address : unwound_.addresses)
    native_.push_back(callAt(address));
  leaveOutStart(native_);
  std::erase_if(native_, [](const NativeCall& call) { return call.recorder && !call.standsIn; });
  python_.clear();
  for (const PythonPlace& place : still.python)
    python_.push_back(callOf(place));
  model::StackSample row;
  row.threadId = thread;
  row.tsNs = ns;
  row.stackId = stackOf(mergePython(native_, python_, unwound_.complete));
  row.truncated = !unwound_.complete && (python_.empty() || !python_.back().isEntry);
  row.kind = model::SampleKind::Blocked;
  sink_.add(row);
}

// The time since the tick minus the sample's CPU time. CPU time comes in ticks of the kernel's
// clock, so small values of either sign are ignored at first.
void StackRows::addOther(model::ThreadId thread,
                         const model::StackSample& sample,
                         std::uint64_t fromTicks) {
  constexpr std::int64_t kLeastNs = 10'000'000;
  std::int64_t& other = otherNs_[thread.value];
  other += sample.tsNs - time_.toNs(fromTicks) - sample.weight;
  if (other < kLeastNs)
    return;
  model::StackSample row;
  row.threadId = thread;
  row.tsNs = sample.tsNs;
  row.weight = std::exchange(other, 0);
  row.kind = model::SampleKind::Other;
  sink_.add(row);
}

// Native calls, innermost first. An event's stack begins in Sonde's libraries; a CUDA call's also
// in CUDA's. At most the outermost of their calls stays, if the program called it. If the CUDA
// runtime is linked into the program, it cannot be recognised: its functions count as the
// program's.
void StackRows::callsOf(std::span<const std::byte> registers,
                        const wire::StackSample& head,
                        std::span<const std::byte> stack) {
  copy_.resize(wire::kStackRegisters);
  std::memcpy(copy_.data(), registers.data(), registers.size());
  unwinder_.unwind({copy_, stack, head.stackAddress}, unwound_);
  native_.clear();
  for (const std::uint64_t address : unwound_.addresses)
    native_.push_back(callAt(address));
  leaveOutStart(native_);
  if ((head.header.detail & wire::StackSample::kEvent) == 0)
    return;
  const bool ofCuda = head.correlation != 0;
  const auto programs = std::find_if(native_.begin(), native_.end(), [&](const NativeCall& call) {
    return !call.recorder && !(ofCuda && call.cuda);
  });
  const bool named = programs != native_.begin() && (programs - 1)->standsIn;
  native_.erase(native_.begin(), named ? programs - 1 : programs);
}

const NativeCall& StackRows::callAt(std::uint64_t address) {
  const auto [known, fresh] = byAddress_.try_emplace(address);
  if (fresh)
    known->second = callOf(code_.find(address), address);
  return known->second;
}

model::FrameId StackRows::unnamed(const std::string& name) {
  const auto [known, fresh] = unnamed_.try_emplace(name);
  if (fresh) {
    model::Frame row;
    row.nameId = sink_.intern(name);
    known->second = sink_.add(row);
  }
  return known->second;
}

// A frame is a function. Without a symbol it is named by its place in its file, if that is known.
NativeCall StackRows::callOf(const MappedCode* code, std::uint64_t address) {
  if (code == nullptr)
    return {unnamed("[unknown]")};
  if (code->file == nullptr)
    return {unnamed(code->range.path.empty() ? "[anonymous]" : code->range.path)};
  const std::uint64_t own = address - code->bias;
  const CodeFunction* function = code->file->functionAt(own);
  const std::uint64_t begin =
      function != nullptr ? function->begin : code->file->unwindEntryAt(own).value_or(own);
  const auto [known, fresh] = functions_.try_emplace({code->file.get(), begin});
  if (!fresh)
    return known->second;
  const std::string& path = code->range.path;
  const std::string file = std::filesystem::path(path).filename().string();
  model::Frame row;
  row.nameId = sink_.intern(
      function != nullptr
          ? demangled(function->name)
          : fmt::format("{}+{:#x}", std::filesystem::path(path).filename().string(), begin));
  row.pathId = sink_.intern(path);
  row.address = signedOf(begin);
  if (!code->file->buildId().empty())
    row.buildId = std::string_view(code->file->buildId());
  const std::string_view name = function == nullptr ? std::string_view() : function->name;
  const bool isRecorder = file.starts_with("libsonde_");
  known->second = {sink_.add(row),
                   code->file.get(),
                   name.starts_with(kLoop),
                   std::find(kStarts.begin(), kStarts.end(), name) != kStarts.end(),
                   isRecorder,
                   (isRecorder && function != nullptr && !name.starts_with("_ZN5sonde")) ||
                       (isCuda(file) && name.starts_with("cu")),
                   isCuda(file)};
  return known->second;
}

PythonCall StackRows::callOf(const wire::PythonFrame& frame) {
  const auto [known, fresh] = pythonFunctions_.try_emplace({frame.name, frame.path, frame.line});
  if (fresh) {
    model::Frame row;
    row.kind = model::FrameKind::Python;
    row.nameId = dictionary_.name(sink_, frame.name);
    row.pathId = dictionary_.name(sink_, frame.path);
    row.line = frame.line;
    known->second = sink_.add(row);
  }
  return {known->second, (frame.flags & wire::PythonFrame::kEntry) != 0};
}

PythonCall StackRows::callOf(const PythonPlace& place) {
  const auto [known, fresh] = pythonPlaces_.try_emplace({place.name, place.path, place.line});
  if (fresh) {
    model::Frame row;
    row.kind = model::FrameKind::Python;
    row.nameId = sink_.intern(place.name);
    row.pathId = sink_.intern(place.path);
    row.line = place.line;
    known->second = sink_.add(row);
  }
  return {known->second, place.isEntry};
}

model::StackId StackRows::stackOf(std::span<const model::FrameId> innermostFirst) {
  model::StackId at{};
  for (auto frame = innermostFirst.rbegin(); frame != innermostFirst.rend(); ++frame) {
    const auto [known, fresh] = stacks_.try_emplace({at.value, frame->value});
    if (fresh) {
      model::Stack row;
      row.parentId = at;
      row.frameId = *frame;
      known->second = sink_.add(row);
    }
    at = known->second;
  }
  return at;
}

Result<void> StackRows::restore() {
  SONDE_TRY_ASSIGN(
      store::Statement rows,
      sink_.writer().database().prepare(
          "SELECT start, \"end\", file_offset, text FROM mapping JOIN string ON string.id = path_id"
          " WHERE process_id = ?1 ORDER BY from_ns, mapping.rowid"));
  rows.bindAll(process_.row.id);
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      return {};
    code_.update({{static_cast<std::uint64_t>(rows.integer(0)),
                   static_cast<std::uint64_t>(rows.integer(1)),
                   static_cast<std::uint64_t>(rows.integer(2)),
                   std::string(rows.text(3))}});
  }
}

}  // namespace sonde::ingest
