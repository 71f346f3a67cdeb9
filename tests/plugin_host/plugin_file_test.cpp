// The requirements on a plugin file. The files are libraries that the compiler makes from a
// descriptor, as users do.
#include "plugins/host/plugin_file.h"

#include "analysis/ingest/rows/wire_words.h"
#include "plugins/api/plugin_check.h"
#include "plugins/host/plugin_set.h"
#include "tests/support/run_program.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace sonde::plugins {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* kGood =
    "SONDE_PLUGIN_HEAD, \"my-probe\", \"\", \"1.2\", \"mine\", start, 0, 0";

class PluginFiles : public ::testing::Test {
 protected:
  // The path of a library with this descriptor.
  fs::path build(const std::string& name,
                 const std::string& fields,
                 const std::string& options = "-shared -fPIC") {
    const fs::path source = folder_.path() / (name + ".c");
    std::ofstream(source) << "#include \"plugins/api/sonde_plugin.h\"\n"
                             "static int start(const sonde_plugin_host* h) { return h == 0; }\n"
                             "const sonde_plugin sonde_plugin_descriptor = {"
                          << fields << "};\nint main(void) { return start(0); }\n";
    const fs::path library = folder_.path() / (name + ".so");
    const std::string command =
        fmt::format("cc {} -I. -o {} {}", options, library.string(), source.string());
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return fs::canonical(library);
  }
  static std::string why(const fs::path& path) {
    const auto plugin = checkPlugin(path);
    return plugin ? "it was taken" : plugin.error().message;
  }

  test::TemporaryFolder folder_;
};

TEST_F(PluginFiles, AreReadWithoutBeingLoaded) {
  const fs::path path = build("good", kGood);
  const auto plugin = checkPlugin(path);
  ASSERT_TRUE(plugin) << plugin.error().message;
  EXPECT_EQ(plugin->path, path);
  EXPECT_EQ(plugin->name, "my-probe");
  EXPECT_EQ(plugin->category, "my-probe");
  EXPECT_EQ(plugin->version, "1.2");
  EXPECT_EQ(plugin->description, "mine");
}

TEST_F(PluginFiles, MayGiveACategory) {
  const auto plugin =
      checkPlugin(build("category", R"(SONDE_PLUGIN_HEAD, "a", "simulator", "", "", start, 0, 0)"));
  ASSERT_TRUE(plugin) << plugin.error().message;
  EXPECT_EQ(plugin->category, "simulator");
}

TEST_F(PluginFiles, OfAnotherAbiAreRefusedWithBothVersions) {
  const fs::path path = build("abi", R"(7, sizeof(sonde_plugin), "a", "", "", "", start, 0, 0)");
  EXPECT_THAT(why(path), HasSubstr("built for plugin ABI 7, and this Sonde has 1"));
  EXPECT_THAT(why(path), HasSubstr(path.string()));
}

TEST_F(PluginFiles, OfASmallerDescriptorAreRefused) {
  EXPECT_THAT(why(build("size", R"(SONDE_PLUGIN_ABI, 8, "a", "", "", "", start, 0, 0)")),
              HasSubstr("has 8 bytes, but ABI"));
}

TEST_F(PluginFiles, OfANameThatIsNoneAreRefused) {
  for (const char* name : {"", "Upper", "9lives", "a b", "12345678901234567890123456789012"}) {
    const std::string fields =
        fmt::format(R"(SONDE_PLUGIN_HEAD, "{}", "", "", "", start, 0, 0)", name);
    EXPECT_THAT(why(build("name", fields)), HasSubstr("its name '")) << name;
  }
}

TEST_F(PluginFiles, OfANameOfSondesAreRefused) {
  EXPECT_THAT(why(build("own", R"(SONDE_PLUGIN_HEAD, "cuda", "", "", "", start, 0, 0)")),
              HasSubstr("'cuda' is that of one of Sonde's probes"));
  EXPECT_THAT(why(build("as", R"(SONDE_PLUGIN_HEAD, "a", "cuda", "", "", start, 0, 0)")),
              HasSubstr("its category 'cuda'"));
  EXPECT_THAT(why(build("near", R"(SONDE_PLUGIN_HEAD, "cudax", "", "", "", start, 0, 0)")),
              HasSubstr("it was taken"));
}

TEST_F(PluginFiles, WithATextThatDoesNotEndAreRefused) {
  EXPECT_THAT(
      why(build("text", R"(SONDE_PLUGIN_HEAD, "a", "", "1234567890123456", "", start, 0, 0)")),
      HasSubstr("has no terminating zero"));
}

TEST_F(PluginFiles, ThatAreProgramsAreRefused) {
  EXPECT_THAT(why(build("program", kGood, "-fPIE -pie -rdynamic")), HasSubstr("a program"));
  EXPECT_THAT(why(build("fixed", kGood, "-no-pie -rdynamic")), HasSubstr("not a shared object"));
}

TEST_F(PluginFiles, AreTakenStripped) {
  EXPECT_THAT(why(build("stripped", kGood, "-shared -fPIC -s")), HasSubstr("it was taken"));
}

TEST_F(PluginFiles, ThatAreCutAnywhereAreNoMoreThanRefused) {
  const fs::path path = build("whole", kGood, "-shared -fPIC -s");
  std::ifstream whole(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(whole), {}};
  const fs::path cut = folder_.path() / "cut.so";
  // Section headers follow the loaded part; not all of them are needed.
  constexpr std::size_t kHeaders = 40 * 64;
  for (std::size_t length = 0; length < bytes.size(); length += 61) {
    std::ofstream(cut, std::ios::binary) << bytes.substr(0, length);
    const auto plugin = checkPlugin(cut);
    EXPECT_TRUE(!plugin || length + kHeaders > bytes.size()) << length;
    EXPECT_TRUE(!plugin || plugin->name == "my-probe") << length;
  }
}

TEST_F(PluginFiles, OfOneNameCannotBeInOneRun) {
  const fs::path one = build("one", kGood);
  const fs::path two = build("two", kGood);
  EXPECT_TRUE(checkPlugins({one.string()}));
  const auto both = checkPlugins({one.string(), two.string()});
  ASSERT_FALSE(both);
  EXPECT_THAT(both.error().message, HasSubstr("both called 'my-probe'"));
}

TEST_F(PluginFiles, MoreThanEightAreTooMany) {
  std::vector<std::string> paths;
  for (int number = 0; number < 9; ++number)
    paths.push_back(
        build(fmt::format("p{}", number),
              fmt::format(R"(SONDE_PLUGIN_HEAD, "p{}", "", "", "", start, 0, 0)", number))
            .string());
  EXPECT_FALSE(checkPlugins(paths));
  paths.pop_back();
  EXPECT_TRUE(checkPlugins(paths));
}

TEST(PluginNames, ThatSondeKeepsAreItsProbes) {
  for (int number = 0; number < static_cast<int>(wire::Probe::Count); ++number) {
    const std::string word(ingest::probeWord(static_cast<wire::Probe>(number)));
    char name[32] = {};
    word.copy(name, sizeof name - 1);
    EXPECT_TRUE(isReserved(name)) << word;
  }
}

}  // namespace
}  // namespace sonde::plugins
