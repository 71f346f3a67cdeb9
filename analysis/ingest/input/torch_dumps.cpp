#include "analysis/ingest/input/torch_dumps.h"

#include <algorithm>
#include <iterator>

namespace sonde::ingest {

bool beginsLikePickle(std::string_view head) noexcept {
  constexpr char kFirstProtocol = 2;
  constexpr char kLastProtocol = 5;
  if (head.size() > 1 && head[0] == '\x80')
    return head[1] >= kFirstProtocol && head[1] <= kLastProtocol;
  return head.starts_with("(dp") || head.starts_with("}q");
}

bool beginsLikeFlightRecorder(std::string_view head) {
  constexpr std::string_view kOwn[] = {
      "\"pg_config\"", "\"pg_status\"", "\"collective_seq_id\"", "\"nccl_comm_state\""};
  constexpr std::string_view kOthers[] = {
      "\"traceEvents\"", "\"schemaVersion\"", "\"distributedInfo\"", "\"deviceProperties\""};
  const auto isIn = [&](std::string_view word) { return head.find(word) != head.npos; };
  const std::size_t first = head.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first != head.npos && head[first] == '{' &&
         std::any_of(std::begin(kOwn), std::end(kOwn), isIn) &&
         std::none_of(std::begin(kOthers), std::end(kOthers), isIn);
}

}  // namespace sonde::ingest
