// SQLite exports of Nsight Systems.
#include "analysis/ingest/nsight/nsight_importer.h"
#include "tests/fuzz/fuzz_rig.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  static fuzz::Rig rig;
  rig.run(data, size, [](store::TraceWriter& writer, const std::filesystem::path& file) {
    return ingest::NsightImporter(writer, rig.folder(), {}).import(file);
  });
  return 0;
}
