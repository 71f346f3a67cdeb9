#include "analysis/ingest/input/other_tools.h"

#include "base/shell_quote.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace sonde::ingest {
namespace {

constexpr char kFirstField = '\x0a';  // of a protobuf message: length-delimited, number 1

// The content of a protobuf's first repeated element and all that follows; empty: not such a
// message.
std::string_view firstElement(std::string_view head) noexcept {
  if (head.empty() || head.front() != kFirstField)
    return {};
  std::size_t at = 1;
  while (at < head.size() && (static_cast<unsigned char>(head[at]) & 0x80U) != 0)
    ++at;
  return at < head.size() ? head.substr(at + 1) : std::string_view();
}

// XSpace of XLA (xplane.proto): planes, with these name prefixes.
bool isXplane(std::string_view head) noexcept {
  const std::string_view plane = firstElement(head);
  return plane.find("/host:") != plane.npos || plane.find("/device:") != plane.npos ||
         plane.find("Task Environment") != plane.npos;
}

// Recognised by the tag bytes that Perfetto writes first in a packet (trace_packet.proto): uid,
// clock snapshot, time, sequence, flags, interned data, and fields with two-byte numbers.
bool isPerfetto(std::string_view head) noexcept {
  constexpr unsigned char kTags[] = {
      0x18, 0x32, 0x40, 0x50, 0x62, 0x68, 0x8a, 0xa2, 0xca, 0xda, 0xe2, 0xea, 0xf8};
  const std::string_view packet = firstElement(head);
  return !packet.empty() &&
         std::find(std::begin(kTags),
                   std::end(kTags),
                   static_cast<unsigned char>(packet.front())) != std::end(kTags);
}

bool isNamed(const std::filesystem::path& file, std::string_view ending) {
  std::string name = file.filename().string();
  if (name.ends_with(".gz"))
    name.resize(name.size() - std::string_view(".gz").size());
  return name.ends_with(ending);
}

bool looksLikeJson(std::string_view head) noexcept {
  const std::size_t first = head.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first != std::string_view::npos && (head[first] == '{' || head[first] == '[');
}

}  // namespace

std::string otherToolsFile(const std::filesystem::path& file, std::string_view head) {
  if (looksLikeJson(head))
    return {};
  if (isNamed(file, ".xplane.pb") || isXplane(head))
    return "is an XPlane profile of JAX, TensorFlow or PyTorch/XLA: import the NAME.trace.json.gz "
           "that its profiler writes into the same folder";
  if (isNamed(file, ".perfetto-trace") || isNamed(file, ".pftrace") || isPerfetto(head))
    return fmt::format(
        "is a binary Perfetto trace: convert it with 'traceconv json {} OUT.json' "
        "(https://get.perfetto.dev/traceconv), and import the result",
        shellQuoted(file.string()));
  if (head.starts_with("PERFILE2"))
    return "is a recording of Linux's perf, which cannot be imported: record the job with 'sonde "
           "run --sources +stack'";
  if (isNamed(file, ".ncu-rep"))
    return "is a report of Nsight Compute, which has kernel counters but no timeline: import a "
           "report of Nsight Systems, exported with 'nsys export --type sqlite'";
  return {};
}

}  // namespace sonde::ingest
