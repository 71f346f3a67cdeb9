// Files of torch.profiler and other writers of Chrome's JSON, plain and gzip.
#include "analysis/ingest/trace_event/trace_event_importer.h"
#include "tests/fuzz/fuzz_rig.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  static fuzz::Rig rig;
  rig.run(data, size, [](store::TraceWriter& writer, const std::filesystem::path& file) {
    auto source = ingest::ByteSource::open(file);
    if (!source)
      std::abort();
    return ingest::TraceEventImporter(writer, rig.folder(), "host", {}).import(*std::move(source));
  });
  return 0;
}
