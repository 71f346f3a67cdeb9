#include "base/suggest.h"
#include "cli/shell/command.h"
#include "cli/text/table.h"
#include "rules/engine/rule.h"

#include <fmt/format.h>

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
           "parameters and defaults.\n\n"
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

Table tableOf(const std::vector<const rules::RuleInfo*>& infos) {
  Table table{{{"name", "rule"},
               {"profile", "profile"},
               {"alias", "SageMaker Debugger"},
               {"summary", "fires when"}},
              {}};
  for (const rules::RuleInfo* info : infos)
    table.rows.push_back({info->name, std::string(rules::wordOf(info->profile)), info->alias, info->summary});
  return table;
}

nlohmann::json parameterJson(const rules::ParameterSpec& parameter) {
  nlohmann::json described = {{"type", rules::typeWordOf(parameter.fallback)},
                              {"help", parameter.help}};
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
                    {"needs", info->needs},
                    {"hint", info->hint},
                    {"summary", info->summary},
                    {"parameters", std::move(parameters)}});
  }
  return {{"schema", 1}, {"rules", std::move(list)}};
}

std::string explanationOf(const rules::RuleInfo& info) {
  Table table{{{"name", "parameter"}, {"default", "default"}, {"help", "meaning"}}, {}};
  for (const rules::ParameterSpec& parameter : info.parameters)
    table.rows.push_back({parameter.name, rules::textOf(parameter.fallback), parameter.help});
  const std::string alias =
      info.alias.empty() ? "" : fmt::format(", {} in SageMaker Debugger", info.alias);
  std::string text = fmt::format("{}: {}\nprofile {}{}{}\n\n{}\n\n",
                                 info.name,
                                 info.summary,
                                 rules::wordOf(info.profile),
                                 info.isForProduction ? " and production" : "",
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
