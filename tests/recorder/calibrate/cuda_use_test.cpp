#include "recorder/calibrate/cuda_use.h"

#include "analysis/store/database.h"
#include "recorder/spool/find_session.h"
#include "recorder/spool/manifest.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

namespace sonde::recorder {
namespace {

namespace fs = std::filesystem;

constexpr char kFirst[] = "GPU-00000000-0000-0000-0000-000000000001";
constexpr char kSecond[] = "GPU-00000000-0000-0000-0000-000000000002";

// An unfinished trace of processes that used CUDA.
class CudaUseTest : public testing::Test {
 protected:
  CudaUseTest() : trace_(part()) {
    model::Host host;
    host.name = "host";
    host_ = trace_.add(host);
  }
  std::string part() const { return folder_ / "job.sonde.part"; }

  // `gpu`: the GPU that it used; empty: the process did not report it.
  void process(const char* cupti, std::optional<std::string> gpu) {
    model::Process process;
    process.hostId = host_;
    process.pid = ++pid_;
    const auto id = trace_.add(process);
    model::Arg fact;
    fact.owner = model::Owner::Process;
    fact.ownerId = id.value;
    fact.keyId = trace_.name("sonde.cupti");
    fact.value = cupti;
    trace_.add(fact);
    if (!gpu)
      return;
    model::Device device;
    device.hostId = host_;
    device.kind = "gpu";
    if (!gpu->empty())
      device.uuid = *gpu;
    model::Stream stream;
    stream.processId = id;
    stream.deviceId = trace_.add(device);
    trace_.add(stream);
  }

  CudaUse use() {
    trace_.finish(false);
    return cudaUseOf(part());
  }

  // The session of a recorder with this PID that writes the trace.
  fs::path session(const std::string& name, std::int32_t pid) {
    fs::path folder = place() / ("sonde-" + std::to_string(::geteuid())) / name;
    fs::create_directories(folder);
    Manifest manifest;
    manifest.session = name;
    manifest.output = folder_ / "job.sonde";
    manifest.part = part();
    manifest.launcherPid = pid;
    manifest.launcherStartTime = processStartTime(pid);
    manifest.bootId = currentBootId();
    EXPECT_TRUE(writeManifest(folder, manifest));
    return folder;
  }
  fs::path place() const { return folder_.path() / "place"; }

 private:
  test::TemporaryFolder folder_;
  test::TraceBuilder trace_;
  model::HostId host_{};
  std::int64_t pid_ = 100;
};

TEST_F(CudaUseTest, IsThatOfTheFirstProcessThatGaveAGpuWork) {
  process("/a/libcupti.so.13", std::nullopt);
  process("/b/libcupti.so.13", kSecond);
  process("/c/libcupti.so.13", kFirst);
  const CudaUse used = use();
  EXPECT_EQ(used.cupti, "/b/libcupti.so.13");
  EXPECT_EQ(used.gpu, kSecond);
}

TEST_F(CudaUseTest, MayBeOfAGpuThatIsNotKnown) {
  process("/a/libcupti.so.13", "");
  const CudaUse used = use();
  EXPECT_EQ(used.cupti, "/a/libcupti.so.13");
  EXPECT_EQ(used.gpu, "");
}

TEST_F(CudaUseTest, IsNoneOfAJobWithoutCuda) {
  EXPECT_EQ(use().cupti, "");
  EXPECT_EQ(cudaUseOf("/nowhere.part").cupti, "");
}

TEST_F(CudaUseTest, AnotherRecordingsGpuIsKnownByItsTrace) {
  process("/a/libcupti.so.13", kFirst);
  use();
  const fs::path own = session("own", ::getpid());
  EXPECT_FALSE(anotherRecordingMayUse(kFirst, own, {place()})) << "there is only the own";
  const fs::path other = session("other", ::getpid());
  EXPECT_TRUE(anotherRecordingMayUse(kFirst, own, {place()}));
  EXPECT_FALSE(anotherRecordingMayUse(kSecond, own, {place()}));
  EXPECT_FALSE(anotherRecordingMayUse("", own, {place()}));
  fs::remove_all(other);
  session("dead", 1 << 22);
  EXPECT_FALSE(anotherRecordingMayUse(kFirst, own, {place()})) << "its recorder is dead";
}

// Either it is being finished, after its job, or it is locked as long as it is written.
TEST_F(CudaUseTest, ATraceThatIsLockedIsNotWaitedFor) {
  process("/a/libcupti.so.13", kFirst);
  use();
  const fs::path own = session("own", ::getpid());
  session("other", ::getpid());
  int ready[2];
  int done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t writer = fork();
  if (writer == 0) {
    close(done[1]);
    auto trace = store::Database::open(part(), store::Access::ReadWrite);
    const bool locked = trace && trace->exec("PRAGMA locking_mode = EXCLUSIVE") &&
                        trace->exec("PRAGMA journal_mode = DELETE") &&
                        trace->exec("BEGIN EXCLUSIVE");
    char word = locked ? 'y' : 'n';
    if (write(ready[1], &word, 1) != 1 || read(done[0], &word, 1) != 0)
      _exit(1);
    _exit(0);
  }
  close(ready[1]);
  char word = 0;
  EXPECT_EQ(read(ready[0], &word, 1), 1);
  EXPECT_EQ(word, 'y');
  for (const bool always : {false, true}) {
    static bool answer;
    answer = always;
    EXPECT_EQ(
        anotherRecordingMayUse(kFirst, own, {place()}, [](const fs::path&) { return answer; }),
        always);
  }
  for (const int end : {ready[0], done[0], done[1]})
    close(end);
  int status = -1;
  waitpid(writer, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(anotherRecordingMayUse(kFirst, own, {place()}));
}

}  // namespace
}  // namespace sonde::recorder
