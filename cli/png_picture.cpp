#include "cli/png_picture.h"

#include "analysis/base/whole_file.h"
#include "analysis/store/scratch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAdvice = "give --plot a name that ends in .svg";

std::string contentOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A folder of its own, with what goes to sonde-gui and comes from it.
class Exchange {
 public:
  static Result<Exchange> make() {
    std::error_code problem;
    std::string name = (fs::temp_directory_path(problem) / "sonde-XXXXXX").string();
    if (problem || mkdtemp(name.data()) == nullptr)
      return Error{ErrorCode::Io,
                   fmt::format("cannot make a folder for the picture ({}): set TMPDIR to one that "
                               "you can write to",
                               std::generic_category().message(errno))};
    return Exchange(name);
  }
  Exchange(Exchange&& other) noexcept = default;
  Exchange& operator=(Exchange&&) = delete;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange() {
    std::error_code ignored;
    if (scratch_)
      fs::remove_all(folder_, ignored);
  }

  fs::path svg() const { return folder_ / "plot.svg"; }
  fs::path png() const { return folder_ / "plot.png"; }
  fs::path errors() const { return folder_ / "errors"; }

 private:
  explicit Exchange(fs::path folder)
      : folder_(std::move(folder)),
        scratch_(std::make_unique<store::Scratch>(
            std::vector<std::string>{svg(), png(), errors(), folder_})) {}

  fs::path folder_;
  std::unique_ptr<store::Scratch> scratch_;
};

// Its wait status.
Result<int> run(std::vector<std::string> words, const fs::path& errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(
      &actions, STDERR_FILENO, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  std::vector<char*> argv;
  for (std::string& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = -1;
  const int error = posix_spawn(&child, argv.front(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    return Error{ErrorCode::Unsupported,
                 fmt::format("PNG is drawn by sonde-gui, and {} cannot be started ({}): install it "
                             "beside sonde, or {}",
                             words.front(),
                             std::generic_category().message(error),
                             kAdvice)};
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

Result<std::string> pngOf(std::string_view svg) {
  std::error_code problem;
  const fs::path self = fs::read_symlink("/proc/self/exe", problem);
  SONDE_TRY_ASSIGN(const Exchange exchange, Exchange::make());
  if (const auto written = writeWhole(exchange.svg(), svg); !written)
    return Error{ErrorCode::Io,
                 fmt::format("cannot write {} ({}): set TMPDIR to a folder with room",
                             exchange.svg().string(),
                             written.error().message)};
  SONDE_TRY_ASSIGN(const int status,
                   run({self.parent_path() / "sonde-gui",
                        "--picture",
                        exchange.svg(),
                        "--screenshot",
                        exchange.png()},
                       exchange.errors()));
  std::string png = contentOf(exchange.png());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !png.empty())
    return png;
  std::string why = contentOf(exchange.errors());
  why = why.substr(0, why.find('\n'));
  constexpr std::string_view kName = "sonde-gui: ";
  if (why.starts_with(kName))
    why.erase(0, kName.size());
  return Error{ErrorCode::Unsupported,
               fmt::format("sonde-gui cannot draw the picture ({}): {}",
                           why.empty() ? fmt::format("wait status {}", status) : why,
                           kAdvice)};
}

}  // namespace sonde::cli
