// A small trace with one of each item that viewers show, for the exporters' tests.
#pragma once

#include "analysis/export/output_file.h"
#include "analysis/store/database.h"
#include "tests/support/run_program.h"

#include <functional>
#include <string>

namespace sonde::test {

// One rank, times from 1'000'000'000'000'000'123 ns ("0" below):
//
//   thread 11   iteration 0-1000, number 7
//                 operation "launch" 100-400, whose call 200-300 launches kernel 350-900 of stream
//                 7 range 150-950: overlaps, and has a lane of its own
//               mark at 500
//               operation "cut" from 1200 on, which never ended
//   stream 7    kernels 350-900 and 600-700 overlap
//   counter     "power" in W: 12.5 at 100, 13 at 200;  scalar "loss" of iteration 7: 0.25 at 900
inline constexpr std::int64_t kZeroNs = 1'000'000'000'000'000'123;
void writeViewersTrace(const std::string& path);

// The output of `write`.
using Exporter = std::function<Result<void>(const store::Database&, exports::OutputFile&)>;
std::string exported(const std::string& trace, const std::string& output, const Exporter& write);

}  // namespace sonde::test
