#include "analysis/ingest/operations/operation_format.h"

#include "analysis/ingest/input/byte_source.h"
#include "analysis/ingest/trace_event/event_reader.h"

#include <utility>

namespace sonde::ingest {
namespace {

constexpr int kSpans = 1000;

// Ends the reading by an error when it knows the answer.
class FormatProbe : public EventReader::Visitor {
 public:
  Result<void> event(const TraceEvent& event) override {
    if (event.phase != 'X')
      return {};
    const EventArgs& args = event.args;
    isOperationLevel = args.step && args.modelChunk && args.microBatch && args.sequence;
    return isOperationLevel || ++spans_ == kSpans ? stop() : Result<void>();
  }
  Result<void> member(std::string_view key, std::string_view json) override {
    (void)json;
    return key == "sonde" ? stop() : Result<void>();
  }
  void progress(std::uint64_t fileBytesRead) override { (void)fileBytesRead; }

  bool isOperationLevel = false;

 private:
  static Result<void> stop() { return Error{ErrorCode::Busy, "recognised"}; }
  int spans_ = 0;
};

}  // namespace

Result<bool> isOperationLevel(const std::filesystem::path& file) {
  SONDE_TRY_ASSIGN(ByteSource source, ByteSource::open(file));
  EventReader reader(std::move(source));
  FormatProbe probe;
  (void)reader.readAll(probe);  // the importer reports what is wrong with the file
  return probe.isOperationLevel;
}

}  // namespace sonde::ingest
