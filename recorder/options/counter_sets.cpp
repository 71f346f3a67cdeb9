#include "recorder/options/counter_sets.h"

#include "collector/wire/device_records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace sonde::recorder {
namespace {

// How busy the multiprocessors are, with what share of their warps, and with how many instructions.
constexpr std::string_view kUtilization[] = {
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "smsp__cycles_active.avg.pct_of_peak_sustained_elapsed",
    "smsp__inst_executed.sum",
    "sm__cycles_active.sum",
    "sm__warps_active.sum",
    "sm__cycles_elapsed.sum",
};

// Floating-point operations by kind, the tensor cores' instructions, device memory traffic, time,
// and occupancy.
constexpr std::string_view kRoofline[] = {
    "gpu__time_duration.sum",
    // Names separated by a bar: uses the first that the chip has. GB202 and related chips have the
    // second.
    "dram__bytes_read.sum|dram__bytes_op_read.sum",
    "dram__bytes_write.sum|dram__bytes_op_write.sum",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__sass_thread_inst_executed_op_fadd_pred_on.sum",
    "sm__sass_thread_inst_executed_op_fmul_pred_on.sum",
    "sm__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "sm__sass_thread_inst_executed_op_hadd_pred_on.sum",
    "sm__sass_thread_inst_executed_op_hmul_pred_on.sum",
    "sm__sass_thread_inst_executed_op_hfma_pred_on.sum",
    "sm__sass_thread_inst_executed_op_dadd_pred_on.sum",
    "sm__sass_thread_inst_executed_op_dmul_pred_on.sum",
    "sm__sass_thread_inst_executed_op_dfma_pred_on.sum",
    "sm__inst_executed_pipe_tensor.sum",
    // Operations of the tensor cores: each generation has some of these. A question mark: a missing
    // one is not reported.
    "?sm__ops_path_tensor_src_bf16_dst_fp32.sum",
    "?sm__ops_path_tensor_src_fp16_dst_fp32.sum",
    "?sm__ops_path_tensor_src_tf32_dst_fp32.sum",
    "?sm__ops_path_tensor_src_fp8.sum",
    "?sm__ops_path_tensor_src_fp64.sum",
};

// unit__counter.rollup…, for example "sm__cycles_active.sum".
bool isMetric(std::string_view word) {
  const auto isAllowed = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '_' || letter == '.';
  };
  return word.find("__") != word.npos && word.find('.') != word.npos &&
         std::all_of(word.begin(), word.end(), isAllowed);
}

class MetricList {
 public:
  void add(std::string_view metric) {
    if (std::find(metrics_.begin(), metrics_.end(), metric) == metrics_.end())
      metrics_.push_back(metric);
  }
  template <typename Set>
  void addAll(const Set& set) {
    for (const std::string_view metric : set)
      add(metric);
  }
  const std::vector<std::string_view>& metrics() const noexcept { return metrics_; }

 private:
  std::vector<std::string_view> metrics_;
};

std::string_view trimmed(std::string_view word) {
  const std::size_t begin = word.find_first_not_of(' ');
  return begin == word.npos ? std::string_view()
                            : word.substr(begin, word.find_last_not_of(' ') + 1 - begin);
}

Result<void> addWord(std::string_view word, MetricList& list) {
  if (word == "utilization")
    list.addAll(kUtilization);
  else if (word == "roofline")
    list.addAll(kRoofline);
  else if (isMetric(word))
    list.add(word);
  else
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("--counters: \"{}\" is neither a set (utilization, roofline) nor a "
                             "metric such as sm__cycles_active.sum: `ncu --query-metrics` lists "
                             "those of a GPU",
                             word)};
  return {};
}

}  // namespace

Result<std::string> counterMetrics(std::string_view wanted) {
  MetricList list;
  while (true) {
    const std::size_t comma = wanted.find(',');
    SONDE_TRY(addWord(trimmed(wanted.substr(0, comma)), list));
    if (comma == wanted.npos)
      break;
    wanted.remove_prefix(comma + 1);
  }
  if (list.metrics().size() > wire::kMostDeviceMetrics)
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("--counters: {} metrics, at most {} are possible",
                             list.metrics().size(),
                             wire::kMostDeviceMetrics)};
  return fmt::format("{}", fmt::join(list.metrics(), ","));
}

}  // namespace sonde::recorder
