#include "recorder/options/redaction.h"

#include <gmock/gmock.h>

#include <utility>

namespace sonde::recorder {
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
                           "Proxy-Authorization",
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

TEST(Redaction, HidesNumbersThatAreTooLongForACount) {
  EXPECT_THAT(Redactor().arguments({"--token", "123456789", "--token", "1234567890", "--key=1e5"}),
              ElementsAre("--token", "123456789", "--token", "[redacted]", "--key=[redacted]"));
}

TEST(Redaction, TakesPasswordsOutOfAddresses) {
  EXPECT_THAT(
      Redactor().arguments({"--data=s3://id:pw@host/a@b", "http://host/x@y", "ftp://u@h"}),
      ElementsAre("--data=s3://[redacted]@host/a@b", "http://host/x@y", "ftp://[redacted]@h"));
}

TEST(Redaction, APasswordInAnAddressMayHoldAnAt) {
  EXPECT_THAT(
      Redactor().arguments({"postgres://user:p@ss@host", "--db=amqp://user:p@s@s@host/q?a@b"}),
      ElementsAre("postgres://[redacted]@host", "--db=amqp://[redacted]@host/q?a@b"));
}

TEST(Redaction, PatternsHideNamesAndWords) {
  const Redactor redactor({"*_URL", "corp-*", "lr"});
  EXPECT_THAT(
      redactor.arguments({"corp-17", "DATA_URL=q", "--lr", "0.1", "--host=corp-1", "plain"}),
      ElementsAre(
          "[redacted]", "DATA_URL=[redacted]", "--lr", "[redacted]", "--host=[redacted]", "plain"));
}

// Redacts one argument.
std::string shown(const std::string& argument, std::vector<std::string> patterns = {}) {
  return Redactor(std::move(patterns)).arguments({argument}).front();
}

TEST(Redaction, HidesOptionsAndVariablesInsideAScript) {
  EXPECT_EQ(shown(R"(sh -c "true --token=SECRETB" x; echo a)"),
            R"(sh -c "true --token=[redacted]" x; echo a)");
  EXPECT_EQ(shown("cd /x; python3 t.py --api-key SECRET --lr 0.1"),
            "cd /x; python3 t.py --api-key [redacted] --lr 0.1");
  EXPECT_EQ(shown("cd /x; HF_TOKEN=SECRET;python3 t.py"),
            "cd /x; HF_TOKEN=[redacted];python3 t.py");
  EXPECT_EQ(shown("cd x && t --password 'two SECRETS' end"),
            "cd x && t --password '[redacted]' end");
  EXPECT_EQ(shown("cd x && t --password=SEC'RET'S end"), "cd x && t --password=[redacted] end");
  EXPECT_EQ(shown("import wandb; wandb.login(key='SECRET', lr=1)"),
            "import wandb; wandb.login(key='[redacted]', lr=1)");
  EXPECT_EQ(shown("import x\ntoken = \"SECRET\"\nlr = 1"),
            "import x\ntoken = \"[redacted]\"\nlr = 1");
  EXPECT_EQ(shown("['t.py', '--token', 'SECRET', '--lr', '1']"),
            "['t.py', '--token', '[redacted]', '--lr', '1']");
}

TEST(Redaction, HidesValuesOfHeaders) {
  EXPECT_THAT(
      Redactor().arguments(
          {"curl", "-H", "Authorization: Bearer SECRET", "--header=X-Api-Key: SECRET"}),
      ElementsAre("curl", "-H", "Authorization: [redacted]", "--header=X-Api-Key: [redacted]"));
  EXPECT_EQ(shown(R"(curl -H "Cookie: a=SECRET; b=SECRET" -H 'Accept: text/html' http://h)"),
            R"(curl -H "Cookie: [redacted]" -H 'Accept: text/html' http://h)");
  EXPECT_EQ(shown("X-Api-Key:SECRET"), "X-Api-Key:[redacted]");
  EXPECT_EQ(shown("-H 'X: Bearer SECRET'"), "-H 'X: Bearer [redacted]'");
}

TEST(Redaction, HidesValuesInsideJson) {
  EXPECT_EQ(shown(R"({"password":"SECRET","lr":0.1})"), R"({"password":"[redacted]","lr":0.1})");
  EXPECT_EQ(shown(R"({"a": {"api_key": "SEC\"RET"}, "max_tokens": 512})"),
            R"({"a": {"api_key": "[redacted]"}, "max_tokens": 512})");
  EXPECT_EQ(shown(R"(--config={'token': 'SECRET'})"), R"(--config={'token': '[redacted]'})");
  EXPECT_EQ(shown(R"(post "{\"token\":\"SECRET\",\"lr\":1}" now)"),
            R"(post "{\"token\":\"[redacted]\",\"lr\":1}" now)");
}

TEST(Redaction, HidesPasswordsInEveryAddressOfAScript) {
  EXPECT_EQ(shown("get http://a/b; get ftp://me:SECRET@h/x u@v 'http://h/?token=SECRET&n=1'"),
            "get http://a/b; get ftp://[redacted]@h/x u@v 'http://h/?token=[redacted]&n=1'");
}

TEST(Redaction, PatternsHideWordsOfAScript) {
  EXPECT_EQ(shown("ping corp-17; x --host corp-2 --user me", {"corp-*", "user"}),
            "ping [redacted]; x --host [redacted] --user [redacted]");
}

TEST(Redaction, LeavesWhatIsNoSecretAsItIs) {
  for (const char* plain : {"for i in 1 2; do python3 t.py --lr=0.1 --name \"a b\"; done",
                            "import torch; print(torch.__version__)",
                            "{\"lr\": 0.1, \"tokenizer\": \"bpe\", \"keys\": 4}",
                            "std::key::value http://host:80/key a:b",
                            "t --use-auth --lr 1",
                            "it's \\ odd\"",
                            "--",
                            "-",
                            ""})
    EXPECT_EQ(shown(plain), plain);
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
}  // namespace sonde::recorder
