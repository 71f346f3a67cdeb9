// Execution traces of MLCommons Chakra, plain and gzip.
#include "analysis/ingest/chakra/chakra_importer.h"
#include "tests/fuzz/fuzz_rig.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  static fuzz::Rig rig;
  rig.run(data, size, [](store::TraceWriter& writer, const std::filesystem::path& file) {
    return ingest::ChakraImporter(writer, rig.folder(), "host", 3, {})
        .import(fuzz::must(ingest::ByteSource::open(file)));
  });
  return 0;
}
