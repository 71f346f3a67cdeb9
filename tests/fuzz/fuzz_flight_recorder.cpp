// Pickles of PyTorch's NCCL flight recorder.
#include "analysis/ingest/flight_recorder/flight_importer.h"
#include "analysis/ingest/pickle/pickle_reader.h"
#include "tests/fuzz/fuzz_rig.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  static fuzz::Rig rig;
  rig.run(data,
          size,
          [](store::TraceWriter& writer,
             const std::filesystem::path& file) -> Result<ingest::ImportedFile> {
            SONDE_TRY_ASSIGN(auto bytes,
                             ingest::readWhole(fuzz::must(ingest::ByteSource::open(file))));
            SONDE_TRY_ASSIGN(const auto values, ingest::readPickle(std::move(bytes), file));
            if (!ingest::isFlightDump(values.root()))
              return Error{ErrorCode::Unsupported, "no dump"};
            ingest::JobGroups groups;
            return ingest::FlightImporter(writer, "host", groups, 3).import(values.root(), file);
          });
  return 0;
}
