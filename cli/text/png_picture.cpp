#include "cli/text/png_picture.h"

#include "base/spawned.h"
#include "base/whole_file.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAdvice = "give --plot a name that ends in .svg";

std::string contentOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Result<std::string> pngOf(std::string_view svg) {
  std::error_code problem;
  const fs::path self = fs::read_symlink("/proc/self/exe", problem);
  const fs::path program = self.parent_path() / "sonde-gui";
  SONDE_TRY_ASSIGN(const TemporaryFolder folder, TemporaryFolder::make());
  const fs::path drawing = folder.path() / "plot.svg";
  const fs::path picture = folder.path() / "plot.png";
  const fs::path errors = folder.path() / "errors";
  if (const auto written = writeWhole(drawing, svg); !written)
    return Error{ErrorCode::Io,
                 fmt::format("cannot write {} ({}): set TMPDIR to a folder with room",
                             drawing.string(),
                             written.error().message)};
  const auto status =
      runToItsEnd(program, {program, "--picture", drawing, "--screenshot", picture}, errors);
  if (!status)
    return Error{
        ErrorCode::Unsupported,
        fmt::format(
            "sonde-gui draws PNG, but {} cannot be started ({}): install it beside sonde, or {}",
            program.string(),
            status.error().message,
            kAdvice)};
  std::string png = contentOf(picture);
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == 0 && !png.empty())
    return png;
  std::string why = contentOf(errors);
  why = why.substr(0, why.find('\n'));
  constexpr std::string_view kName = "sonde-gui: ";
  if (why.starts_with(kName))
    why.erase(0, kName.size());
  return Error{ErrorCode::Unsupported,
               fmt::format("sonde-gui cannot draw the picture ({}): {}",
                           why.empty() ? fmt::format("wait status {}", *status) : why,
                           kAdvice)};
}

}  // namespace sonde::cli
