#include "analysis/ingest/import/stream_overlaps.h"

#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace sonde::ingest {
namespace {

constexpr std::size_t kInMemory = 200'000;  // 8 MB

std::string shown(std::int64_t ns) {
  constexpr std::int64_t kMilli = 1'000'000;
  const double time = static_cast<double>(ns);
  return ns < kMilli ? fmt::format("{:.1f} µs", time * 1e-3)
                     : fmt::format("{:.2f} ms", time * 1e-6);
}

}  // namespace

bool StreamOverlaps::ByTime::operator()(const Staged& a, const Staged& b) const noexcept {
  return std::tie(a.stream, a.startNs, b.endNs) < std::tie(b.stream, b.startNs, a.endNs);
}

StreamOverlaps::StreamOverlaps(const std::filesystem::path& folder) : staged_(folder, kInMemory) {}

Result<void> StreamOverlaps::add(const model::Kernel& kernel) {
  const model::DeviceWork& work = kernel.work;
  if (!work.durNs)
    return {};
  return staged_.add({work.streamId.value,
                      work.startNs,
                      work.startNs + *work.durNs,
                      work.nameId.value,
                      work.correlationId.value_or(0)});
}

// Adds the kernel, and those inside it, to the two sums.
void StreamOverlaps::close(const Cover& cover, Stream& stream) {
  const Staged& kernel = cover.kernel;
  const bool isNamed = cover.later >= kLeast;
  const std::int64_t begin = std::max(kernel.startNs, stream.writtenEndNs);
  stream.writtenNs += std::max<std::int64_t>(kernel.endNs - begin, 0);
  stream.writtenEndNs = std::max(stream.writtenEndNs, kernel.endNs);
  const std::int64_t clippedBegin = std::max(kernel.startNs, stream.clippedEndNs);
  const std::int64_t end = isNamed ? cover.firstNs : kernel.endNs;
  stream.clippedNs += std::max<std::int64_t>(end - clippedBegin, 0);
  stream.clippedNs += isNamed ? cover.withinNs : 0;
  stream.clippedEndNs = std::max(stream.clippedEndNs, isNamed ? cover.reachedNs : kernel.endNs);
  if (!isNamed)
    return;
  ++stream.covers;
  if (cover.later > stream.worst.later)
    stream.worst = cover;
}

void StreamOverlaps::put(const Staged& kernel, std::optional<Cover>& open, Stream& stream) {
  const bool isWithin =
      open && kernel.endNs <= open->kernel.endNs && kernel.startNs > open->kernel.startNs;
  if (!isWithin) {
    if (open)
      close(*open, stream);
    open = Cover{kernel};
    return;
  }
  if (kernel.launch != 0 && kernel.launch == open->kernel.launch)
    return;
  if (open->later++ == 0)
    open->firstNs = open->reachedNs = kernel.startNs;
  const std::int64_t begin = std::max(kernel.startNs, open->reachedNs);
  open->withinNs += std::max<std::int64_t>(kernel.endNs - begin, 0);
  open->reachedNs = std::max(open->reachedNs, kernel.endNs);
}

Result<std::string> StreamOverlaps::lineOf(store::TraceWriter& writer,
                                           const Stream& stream,
                                           std::int64_t shiftNs) {
  const Staged& kernel = stream.worst.kernel;
  SONDE_TRY_ASSIGN(
      store::Statement row,
      writer.database().prepare(
          "SELECT n.text, r.number, d.kind || ' ' || d.ordinal FROM string n, stream r LEFT JOIN "
          "device d ON d.id = r.device_id WHERE n.id = ?1 AND r.id = ?2"));
  SONDE_TRY(row.bindAll(kernel.name, kernel.stream).step());
  const std::string others =
      stream.covers > 1 ? fmt::format(" and {} others like it", stream.covers - 1) : "";
  return fmt::format(
      "kernel '{}' of stream {} of {} begins at {} ns, lasts {} and ends after {} later kernels of "
      "its stream{}. A stream runs one kernel at a time, so its end is probably wrong. As written, "
      "kernels of the stream take {}; cut at the start of the next kernel, they take {}",
      row.text(0),
      row.integer(1),
      row.text(2),
      kernel.startNs + shiftNs,
      shown(kernel.endNs - kernel.startNs),
      stream.worst.later,
      others,
      shown(stream.writtenNs),
      shown(stream.clippedNs));
}

Result<std::vector<std::string>> StreamOverlaps::describe(store::TraceWriter& writer,
                                                          std::int64_t shiftNs) {
  SONDE_TRY(staged_.sort());
  std::vector<std::string> lines;
  std::optional<Cover> open;
  Stream stream;
  for (Staged kernel{};;) {
    SONDE_TRY_ASSIGN(const bool more, staged_.next(kernel));
    if (open && (!more || kernel.stream != open->kernel.stream)) {
      close(*std::exchange(open, {}), stream);
      const Stream ended = std::exchange(stream, {});
      if (ended.covers > 0) {
        SONDE_TRY_ASSIGN(std::string line, lineOf(writer, ended, shiftNs));
        lines.push_back(std::move(line));
      }
    }
    if (!more)
      return lines;
    put(kernel, open, stream);
  }
}

}  // namespace sonde::ingest
