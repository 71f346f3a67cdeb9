#include "cli/dispatch.h"
#include "recorder/calibrate/cost_program.h"
#include "recorder/calibrate/cuda_cost_program.h"
#include "rules/custom/plugin_rules.h"

#include <string>
#include <string_view>
#include <vector>

int main(int argc, char** argv) {
  if (argc > 0 && std::string_view(argv[0]) == sonde::recorder::kCostProgram) {
    if (argc > 2)
      sonde::recorder::printCudaCosts(argv[1], argv[2]);
    else
      sonde::recorder::printCosts();
    return 0;
  }
  if (argc > 0 && std::string_view(argv[0]) == sonde::rules::kJudgeProgram) {
    sonde::rules::judgeAsOwnProgram();
    return 0;
  }
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return sonde::cli::dispatch(arguments);
}
