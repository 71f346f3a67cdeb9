#include "base/suggest.h"
#include "cli/shell/command.h"
#include "cli/text/table.h"
#include "rules/engine/rule.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <variant>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

class RulesCommand : public Command {
 public:
  const char* name() const override { return "rules"; }
  const char* summary() const override { return "list the rules, or explain one"; }
  const char* details() const override {
    return "Without NAME, lists all rules. With NAME, describes when the rule fires, and its "
           "parameters with their\n"
           "defaults and bounds. The column 'profile' says when a rule runs that no rules file "
           "names: in\n"
           "these profiles, with a baseline (`sonde check --baseline`), or only if a file names "
           "it.\n\n"
           "Examples:\n"
           "  sonde rules\n"
           "  sonde rules step-outlier\n"
           "  sonde rules --format json\n";
  }
  void declare(CLI::App& app) override {
    addFormatOption(app, format_);
    app.add_option("NAME", rule_, "name of a rule");
  }
  int run() override;

 private:
  int unknownRule() const;

  Format format_ = Format::Table;
  std::string rule_;
};

// When a rule runs that no file names: "ci, production", "with a baseline".
std::string whenItRuns(const rules::RuleInfo& info) {
  switch (info.runsByItself) {
    case rules::RunsByItself::WithBaseline:
      return "with a baseline";
    case rules::RunsByItself::Never:
      return "if named";
    case rules::RunsByItself::Always:
      break;
  }
  return fmt::format(
      "{}{}", rules::wordOf(info.profile), info.isForProduction ? ", production" : "");
}

std::string_view keyOf(rules::RunsByItself runs) {
  constexpr std::string_view kWords[] = {"always", "with_baseline", "never"};
  return kWords[static_cast<std::size_t>(runs)];
}

// "4 to 1e+07", "at least 0", or the words that a text may have.
std::string boundsOf(const rules::ParameterSpec& parameter) {
  if (!parameter.words.empty())
    return fmt::format("{}", fmt::join(parameter.words, ", "));
  const bool hasLeast = std::isfinite(parameter.minimum);
  const bool hasMost = std::isfinite(parameter.maximum);
  if (std::holds_alternative<std::string>(parameter.fallback) || (!hasLeast && !hasMost))
    return "";
  if (hasLeast && hasMost)
    return fmt::format("{:g} to {:g}", parameter.minimum, parameter.maximum);
  return hasLeast ? fmt::format("at least {:g}", parameter.minimum)
                  : fmt::format("at most {:g}", parameter.maximum);
}

Table tableOf(const std::vector<const rules::RuleInfo*>& infos) {
  Table table{{{"name", "rule"},
               {"profile", "profile"},
               {"alias", "SageMaker Debugger"},
               {"summary", "fires when"}},
              {}};
  for (const rules::RuleInfo* info : infos)
    table.rows.push_back({info->name, whenItRuns(*info), info->alias, info->summary});
  return table;
}

nlohmann::json parameterJson(const rules::ParameterSpec& parameter) {
  nlohmann::json described = {{"type", rules::typeWordOf(parameter.fallback)},
                              {"help", parameter.help}};
  const auto bound = [](double value) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
  };
  if (!std::holds_alternative<std::string>(parameter.fallback)) {
    described["minimum"] = bound(parameter.minimum);
    described["maximum"] = bound(parameter.maximum);
  }
  if (!parameter.words.empty())
    described["words"] = parameter.words;
  described["default"] =
      std::visit([](const auto& value) { return nlohmann::json(value); }, parameter.fallback);
  return described;
}

nlohmann::json jsonOf(const std::vector<const rules::RuleInfo*>& infos) {
  nlohmann::json list = nlohmann::json::array();
  for (const rules::RuleInfo* info : infos) {
    nlohmann::json parameters = nlohmann::json::object();
    for (const rules::ParameterSpec& parameter : info->parameters)
      parameters[parameter.name] = parameterJson(parameter);
    list.push_back({{"name", info->name},
                    {"alias", info->alias},
                    {"profile", rules::wordOf(info->profile)},
                    {"production", info->isForProduction},
                    {"runs_by_itself", keyOf(info->runsByItself)},
                    {"needs", info->needs},
                    {"hint", info->hint},
                    {"summary", info->summary},
                    {"parameters", std::move(parameters)}});
  }
  return {{"schema", 1}, {"rules", std::move(list)}};
}

std::string explanationOf(const rules::RuleInfo& info) {
  Table table{
      {{"name", "parameter"}, {"default", "default"}, {"bounds", "allowed"}, {"help", "meaning"}},
      {}};
  for (const rules::ParameterSpec& parameter : info.parameters)
    table.rows.push_back(
        {parameter.name, rules::textOf(parameter.fallback), boundsOf(parameter), parameter.help});
  const std::string alias =
      info.alias.empty() ? "" : fmt::format(", {} in SageMaker Debugger", info.alias);
  const bool isInProfile = info.runsByItself == rules::RunsByItself::Always;
  std::string text = fmt::format("{}: {}\n{}{}{}\n\n{}\n\n",
                                 info.name,
                                 info.summary,
                                 isInProfile ? "profile " : "runs ",
                                 whenItRuns(info),
                                 alias,
                                 info.details);
  if (!info.needs.empty())
    text += fmt::format("Needs records of {}.\n", info.needs);
  if (!info.hint.empty())
    text += fmt::format("When it fires: {}.\n", info.hint);
  for (const std::string& command : info.next)
    text += fmt::format("  {}\n", command);
  return text + "\n" + renderText(table);
}

int RulesCommand::unknownRule() const {
  std::vector<std::string> names;
  for (const rules::RuleInfo& rule : rules::builtinRules())
    names.push_back(rule.name);
  const std::string nearest = nearestWord(rule_, names);
  complain(name(),
           fmt::format("there is no rule '{}': {}",
                       rule_,
                       nearest.empty() ? "`sonde rules` lists them"
                                       : fmt::format("did you mean '{}'?", nearest)));
  return kExitUsage;
}

int RulesCommand::run() {
  std::vector<const rules::RuleInfo*> infos;
  for (const rules::RuleInfo& rule : rules::builtinRules())
    infos.push_back(&rule);
  if (!rule_.empty()) {
    infos = {rules::findRule(rule_)};
    if (infos.front() == nullptr)
      return unknownRule();
  }
  if (format_ == Format::Json)
    printOut(dumpJson(jsonOf(infos)));
  else if (format_ == Format::Csv)
    printOut(renderCsv(tableOf(infos)));
  else
    printOut(rule_.empty() ? renderText(tableOf(infos)) : explanationOf(*infos.front()));
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeRulesCommand() {
  return std::make_unique<RulesCommand>();
}

}  // namespace sonde::cli
