#include "session/redaction.h"

#include <gmock/gmock.h>

namespace sonde::session {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(Redaction, KnowsSecretsByTheirNames) {
  for (const char* name : {"HF_TOKEN",
                           "token",
                           "--api-key",
                           "WANDB_API_KEY",
                           "awsSecretAccessKey",
                           "MYSQL_PWD",
                           "DB_PASSWORD",
                           "passwd",
                           "GOOGLE_APPLICATION_CREDENTIALS",
                           "Authorization-Bearer",
                           "session_cookie",
                           "passphrase"})
    EXPECT_TRUE(namesSecret(name)) << name;
  for (const char* name : {"tokenizer",
                           "--tokenizer-path",
                           "MONKEY",
                           "keyboard",
                           "HOME",
                           "author",
                           "compass",
                           "secretary",
                           ""})
    EXPECT_FALSE(namesSecret(name)) << name;
}

TEST(Redaction, HidesValuesOfOptionsAndVariables) {
  const Redactor redactor;
  EXPECT_THAT(redactor.arguments({"train",
                                  "--token",
                                  "abc",
                                  "--api-key=x=y",
                                  "HF_TOKEN=z",
                                  "--lr",
                                  "0.1",
                                  "-password",
                                  "p"}),
              ElementsAre("train",
                          "--token",
                          "[redacted]",
                          "--api-key=[redacted]",
                          "HF_TOKEN=[redacted]",
                          "--lr",
                          "0.1",
                          "-password",
                          "[redacted]"));
}

TEST(Redaction, AFlagWithASecretNameHidesNoOption) {
  EXPECT_THAT(Redactor().arguments({"--use-auth", "--lr", "1"}),
              ElementsAre("--use-auth", "--lr", "1"));
}

TEST(Redaction, KeepsNumbersOfTokens) {
  EXPECT_THAT(Redactor().arguments({"--max-tokens", "512", "--max-tokens=512"}),
              ElementsAre("--max-tokens", "512", "--max-tokens=512"));
}

TEST(Redaction, TakesPasswordsOutOfAddresses) {
  EXPECT_THAT(
      Redactor().arguments({"--data=s3://id:pw@host/a@b", "http://host/x@y", "ftp://u@h"}),
      ElementsAre("--data=s3://[redacted]@host/a@b", "http://host/x@y", "ftp://[redacted]@h"));
}

TEST(Redaction, PatternsHideNamesAndWords) {
  const Redactor redactor({"*_URL", "corp-*", "lr"});
  EXPECT_THAT(
      redactor.arguments({"corp-17", "DATA_URL=q", "--lr", "0.1", "--host=corp-1", "plain"}),
      ElementsAre(
          "[redacted]", "DATA_URL=[redacted]", "--lr", "[redacted]", "--host=[redacted]", "plain"));
}

TEST(Redaction, JoinsACommandLine) {
  EXPECT_EQ(Redactor().commandLine({"python3", "t.py", "--key", "k"}),
            "python3 t.py --key [redacted]");
}

TEST(Redaction, KeepsOfAnEnvironmentWhatExplainsTraining) {
  EXPECT_THAT(Redactor({"NCCL_SOCKET*"})
                  .environment({"RANK=1",
                                "NCCL_DEBUG=INFO",
                                "NCCL_SOCKET_IFNAME=eth0",
                                "HOME=/root",
                                "TORCH_TOKEN=t",
                                "OMP_NUM_THREADS=2",
                                "odd"}),
              UnorderedElementsAre(Pair("RANK", "1"),
                                   Pair("NCCL_DEBUG", "INFO"),
                                   Pair("NCCL_SOCKET_IFNAME", "[redacted]"),
                                   Pair("TORCH_TOKEN", "[redacted]"),
                                   Pair("OMP_NUM_THREADS", "2")));
}

}  // namespace
}  // namespace sonde::session
