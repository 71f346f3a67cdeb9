#include "cli/shell/correction_options.h"

#include "cli/shell/cost_file.h"

#include <cstdint>
#include <utility>

#include <CLI/CLI.hpp>

namespace sonde::cli {

void addCorrectionOptions(CLI::App& app, CorrectionOptions& options, bool several) {
  CLI::Option* const raw =
      app.add_flag("--raw", options.raw, "times as recorded, including the cost of recording");
  CLI::Option* const overhead =
      app.add_option("--overhead",
                     options.overhead,
                     several ? "cost file of sonde calibrate; repeat for each set of probes"
                             : "cost file of sonde calibrate")
          ->type_name("FILE")
          ->allow_extra_args(false)
          ->excludes(raw);
  if (!several)
    overhead->expected(1);
}

Result<std::optional<engine::correction::CostSet>> measuredCosts(const CorrectionOptions& options,
                                                                 const store::Database& trace) {
  using Costs = std::optional<engine::correction::CostSet>;
  Result<Costs> found = Costs();
  for (const std::string& file : options.overhead) {
    auto read = readCostFile(file, trace);
    if (read)
      return Costs(*std::move(read));
    if (read.error().code != ErrorCode::InvalidArgument)
      return read.error();
    found = read.error();
  }
  return found;
}

Result<engine::metrics::Clocks> readClocks(const CorrectionOptions& options,
                                           const store::Database& trace) {
  SONDE_TRY_ASSIGN(const std::int64_t isReplayed,
                   trace.queryInteger("SELECT count(*) FROM meta WHERE key = 'replayed'"));
  if (options.raw || (isReplayed > 0 && options.overhead.empty()))
    return engine::metrics::Clocks();
  SONDE_TRY_ASSIGN(const auto measured, measuredCosts(options, trace));
  return engine::metrics::Clocks::read(trace, measured ? &*measured : nullptr);
}

}  // namespace sonde::cli
