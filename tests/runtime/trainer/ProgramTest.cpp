// The trainer as a process: exit statuses, refusals before the first step, kills and full disks.
#include "runtime/base/Json.h"
#include "tests/runtime/trainer/RunFixture.h"
#include <csignal>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mekik::test {
namespace {

struct Outcome {
  int status = 0; // exit status, or -signal
  std::string out, err;
};

/// Exit status of a child that may not mount what a test needs.
constexpr int noMount = 77;

/// Mounts a file system of 64 KiB on `where` that only this process sees.
void mountSmallDisk(const char *where) {
  if ((unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ||
      mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("none", where, "tmpfs", 0, "size=64k") != 0)
    _exit(noMount);
}

/// Writes until there is no space left.
void fillDisk(const char *file) {
  int filler = open(file, O_WRONLY | O_CREAT, 0600);
  static const char block[1024] = {};
  while (::write(filler, block, sizeof block) > 0) {
  }
  close(filler);
}

/// Takes a mounted disk away again, however the test ends.
struct Mounted {
  std::string path;
  ~Mounted() { umount2(path.c_str(), MNT_DETACH); }
};

class Program : public RunFixture {
protected:
  pid_t start(const std::vector<std::string> &arguments, const std::function<void()> &prepare = {},
              std::vector<std::string> environment = {}) const {
    // All memory is taken before the fork; the child only makes system calls.
    const char *build = getenv("MEKIK_BINARY_DIR");
    std::string program = std::string(build ? build : "build") + "/tests/bigram";
    std::vector<char *> argv{program.data()}, envp;
    for (const std::string &argument : arguments)
      argv.push_back(const_cast<char *>(argument.c_str()));
    for (std::string &variable : environment)
      envp.push_back(variable.data());
    argv.push_back(nullptr);
    envp.push_back(nullptr);
    pid_t child = fork();
    if (child != 0)
      return child;
    if (chdir(folder.c_str()) != 0)
      _exit(125);
    dup2(open("stdout", O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
    dup2(open("stderr", O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
    if (prepare)
      prepare();
    execve(program.c_str(), argv.data(), envp.data());
    _exit(126);
  }

  Outcome finish(pid_t child) const {
    int status = 0;
    waitpid(child, &status, 0);
    Outcome outcome;
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    outcome.out = read("stdout");
    outcome.err = read("stderr");
    return outcome;
  }

  Outcome call(const std::vector<std::string> &arguments, const std::function<void()> &prepare = {},
               std::vector<std::string> environment = {}) const {
    return finish(start(arguments, prepare, std::move(environment)));
  }

  std::vector<std::string> temporaries(const std::string &where) const {
    std::vector<std::string> found;
    for (const auto &entry : std::filesystem::directory_iterator(path(where)))
      if (entry.path().filename().string().find(".tmp-") != std::string::npos)
        found.push_back(entry.path().filename());
    return found;
  }
};

TEST_F(Program, TrainsSamplesAndEvaluates) {
  Outcome train = call({"train", "--data", "data.txt", "--log", "log.jsonl", "--curve", "c.svg"});
  ASSERT_EQ(train.status, 0) << train.err;
  EXPECT_EQ(train.out, "");
  EXPECT_NE(train.err.find("best, saved"), std::string::npos) << train.err;
  EXPECT_NE(train.err.find("40 steps"), std::string::npos) << train.err; // from the configuration
  EXPECT_EQ(read("c.svg"), read("run/curve.svg"));
  Outcome sample = call({"sample", "--count", "3", "--mark-new", "data.txt"});
  ASSERT_EQ(sample.status, 0) << sample.err;
  EXPECT_EQ(sample.err, "");
  EXPECT_EQ(std::count(sample.out.begin(), sample.out.end(), '\n'), 3);
  EXPECT_TRUE(sample.out.starts_with("* ") || sample.out.starts_with("  ")) << sample.out;
  Outcome eval = call({"eval", "--data", "data.txt", "--json"});
  ASSERT_EQ(eval.status, 0) << eval.err;
  auto json = base::Json::parse(eval.out, "eval").value();
  std::string last = read("log.jsonl");
  last = last.substr(last.rfind("{\"step\":40"));
  EXPECT_NE(last.find("\"validation_loss\":" + json.find("validation_loss")->text()), std::string::npos)
      << last << eval.out;
}

TEST_F(Program, ShowsTheNextSymbolsInsteadOfText) {
  ASSERT_EQ(call({"train", "--data", "data.txt"}).status, 0);
  Outcome table = call({"sample", "--prompt", "ab", "--next", "2"});
  ASSERT_EQ(table.status, 0) << table.err;
  EXPECT_EQ(table.out.find("after \"ab\"\n  \"c\"       0."), 0u) << table.out;
  EXPECT_EQ(std::count(table.out.begin(), table.out.end(), '\n'), 3);
  Outcome json = call({"sample", "--prompt", "ab", "--next", "0", "--temperature", "0.5", "--top-k", "3", "--json"});
  auto parsed = base::Json::parse(json.out, "next");
  ASSERT_TRUE(parsed.ok()) << json.out;
  EXPECT_EQ(parsed->find("temperature")->number(), 0.5);
  const std::vector<base::Json> &next = parsed->find("next")->elements();
  ASSERT_EQ(next.size(), 3u);
  double sum = 0;
  for (const base::Json &symbol : next)
    sum += *symbol.find("probability")->number();
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_EQ(next[0].find("symbol")->text(), "c");
  EXPECT_EQ(next[0].find("bytes")->text(), "63");
  for (std::vector<std::string> wrong : {std::vector<std::string>{"--json"},
                                         {"--next", "3", "--count", "2"},
                                         {"--next", "-1"},
                                         {"--next", "2", "--mark-new", "data.txt"}}) {
    wrong.insert(wrong.begin(), "sample");
    EXPECT_EQ(call(wrong).status, 2) << wrong[1];
  }
}

TEST_F(Program, TheBaselineIsShownAndChangesNothing) {
  Outcome plain = call({"train", "--data", "data.txt", "--out", "a", "--log", "a.log"});
  Outcome with = call({"train", "--data", "data.txt", "--out", "b", "--log", "b.log", "--baseline", "2"});
  ASSERT_EQ(with.status, 0) << with.err;
  EXPECT_NE(with.err.find("validation loss\n order 2 "), std::string::npos) << with.err;
  EXPECT_NE(with.err.find("by counting, 1 added\n       1 "), std::string::npos) << with.err;
  EXPECT_EQ(plain.err.find("order"), std::string::npos);
  for (const char *name : {"/best.safetensors", "/last.safetensors", "/curve.svg"})
    EXPECT_EQ(read(std::string("a") + name), read(std::string("b") + name)) << name;
  EXPECT_EQ(logWithoutTimes("a.log"), logWithoutTimes("b.log"));
  EXPECT_EQ(call({"train", "--data", "data.txt", "--baseline", "-1"}).status, 2);
}

TEST_F(Program, TheEnvironmentChangesNothing) {
  std::vector<std::string> arguments = {"train", "--data", "data.txt", "--steps", "10", "--log", "run.log"};
  ASSERT_EQ(call(arguments).status, 0);
  std::string expected = traces("run");
  std::string samples = call({"sample"}).out;
  for (const char *locale : {"LC_ALL=tr_TR.UTF-8", "LC_ALL=C", "LC_ALL=de_DE.UTF-8"}) {
    std::filesystem::remove_all(path("run"));
    std::vector<std::string> environment = {locale, "TZ=Asia/Tokyo", "X=" + std::string(5000, 'x'),
                                            "MEKIK_FILL_WORK=1"};
    ASSERT_EQ(call(arguments, {}, environment).status, 0);
    EXPECT_TRUE(traces("run") == expected) << locale;
    EXPECT_EQ(call({"sample", "--threads", "3"}, {}, environment).out, samples);
  }
}

TEST_F(Program, WhereMemoryLiesChangesNothing) {
  std::vector<std::string> arguments = {"train", "--data", "data.txt", "--steps", "10", "--log", "run.log"};
  ASSERT_EQ(call(arguments).status, 0);
  std::string expected = traces("run");
  std::filesystem::remove_all(path("run"));
  Outcome outcome = call(arguments, [] {
    if (personality(ADDR_NO_RANDOMIZE) == -1)
      _exit(noMount);
  });
  if (outcome.status == noMount)
    GTEST_SKIP() << "this machine does not let a process choose its layout";
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(traces("run") == expected);
}

TEST_F(Program, WrongUsageIsTwoWithOneMessage) {
  for (const std::vector<std::string> &arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"trian"},
                                             {"train"},
                                             {"train", "--data"},
                                             {"train", "--dta", "x"},
                                             {"train", "--data", "data.txt", "--steps", "0"},
                                             {"train", "--data", "data.txt", "--seed", "-1"},
                                             {"train", "--data", "data.txt", "--threads", "0"},
                                             {"train", "--data", "data.txt", "--out", ""},
                                             {"train", "--data", "data.txt", "--validation", "1"},
                                             {"sample", "--temperature", "-1"},
                                             {"sample", "--temperature", "nan"},
                                             {"sample", "--temperature", "inf"},
                                             {"sample", "--top-k", "-5"},
                                             {"sample", "--top-k", "9223372036854775808"},
                                             {"sample", "--top-p", "nan"},
                                             {"sample", "--greedy", "--temperature", "0.5"},
                                             {"eval"},
                                             {"info", "x"}}) {
    Outcome outcome = call(arguments);
    EXPECT_EQ(outcome.status, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    if (!arguments.empty())
      EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_FALSE(exists("run"));
  }
}

TEST_F(Program, EveryCommandHasHelpWithAnExample) {
  for (const char *command : {"train", "sample", "eval", "info"}) {
    Outcome outcome = call({command, "--help"});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.out.find("\nexamples\n"), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.err, "");
  }
}

TEST_F(Program, UnusableDataIsRefusedAndNothingIsWritten) {
  write("empty.txt", "");
  write("blank.txt", " \n\n");
  write("latin.txt", "abc\nab\x92\n");
  write("other.txt", "abc\nabx\n");
  write("short.txt", "abc\n");
  for (const char *data :
       {"missing.txt", ".", "/dev/null", "empty.txt", "blank.txt", "latin.txt", "other.txt", "short.txt"}) {
    Outcome outcome = call({"train", "--data", data});
    EXPECT_EQ(outcome.status, 1) << data << outcome.err;
    EXPECT_NE(outcome.err.find(data), std::string::npos) << outcome.err;
    EXPECT_FALSE(exists("run")) << data;
  }
}

TEST_F(Program, OddFoldersWorkAndUnusableOnesAreRefusedBeforeTheFirstStep) {
  std::string longName(4096, 'x');
  write("file", "");
  std::filesystem::create_directory(path("taken"));
  std::filesystem::create_directory(path("taken/last.safetensors"));
  for (const std::string &out :
       {std::string("a b"), std::string("ağaç 🙂"), std::string("deep/er/"), std::string("x/")}) {
    Outcome outcome = call({"train", "--data", "data.txt", "--steps", "2", "--out", out});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(exists(out + "/last.safetensors"));
  }
  // A run that begins all the same would not end: it is killed, and its status is that of the signal.
  for (const std::string &out : {std::string("file"), std::string("/dev/null"), std::string("/proc/nothing"),
                                 std::string("file/sub"), std::string("taken"), longName}) {
    Outcome outcome = call({"train", "--data", "data.txt", "--steps", "1000000000", "--out", out}, [] { alarm(10); });
    outcome.err.resize(std::min<size_t>(outcome.err.size(), 1000));
    EXPECT_EQ(outcome.status, 1) << out.substr(0, 40) << ": " << outcome.err;
    EXPECT_NE(outcome.err.find("--out"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find("best, saved"), std::string::npos) << outcome.err;
  }
  if (geteuid() != 0) { // root may write anywhere
    std::filesystem::create_directory(path("locked"));
    chmod(path("locked").c_str(), 0500);
    EXPECT_EQ(call({"train", "--data", "data.txt", "--out", "locked"}).status, 1);
  }
}

TEST_F(Program, ResumeNamesTheSettingThatDiffers) {
  ASSERT_EQ(call({"train", "--data", "data.txt", "--steps", "3"}).status, 0);
  std::string before = read("run/last.safetensors");
  for (auto [option, was, is] : {std::tuple("--seed", "1", "5"), std::tuple("--eval-every", "250", "10"),
                                 std::tuple("--patience", "0", "2"), std::tuple("--validation", "0.1", "0.2")}) {
    Outcome outcome = call({"train", "--data", "data.txt", "--resume", option, is});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_NE(outcome.err.find(std::string(option) + " was " + was + " and is " + is), std::string::npos)
        << outcome.err;
  }
  EXPECT_EQ(read("run/last.safetensors"), before);
  EXPECT_EQ(call({"train", "--data", "data.txt", "--resume", "--out", "nowhere"}).status, 1);
  EXPECT_FALSE(exists("nowhere"));
}

TEST_F(Program, ACheckpointOfOtherSymbolsIsRefusedByEveryCommand) {
  ASSERT_EQ(call({"train", "--data", "data.txt", "--steps", "3"}).status, 0);
  const std::string files[] = {"run/best.safetensors", "run/last.safetensors"};
  for (auto [characters, reason] : {std::pair("abcdş", "this program has 5 characters"),
                                    std::pair("abcğ", "id 4 is \"ş\" in this program and \"ğ\" in")}) {
    for (const std::string &file : files) {
      auto saved = checkpoint::loadCheckpoint(path(file)).value();
      saved.info.tokenizer = R"({"kind":"characters","end":".","characters":")" + std::string(characters) + "\"}";
      std::vector<checkpoint::TensorView> tensors;
      for (const checkpoint::TensorEntry &tensor : saved.file.tensors())
        tensors.push_back({tensor.name, tensor.type, tensor.shape, tensor.data});
      ASSERT_TRUE(checkpoint::saveCheckpoint(path(file), saved.info, tensors).ok());
    }
    std::string before = read(files[0]) + read(files[1]);
    for (const std::vector<std::string> &arguments :
         {std::vector<std::string>{"sample"}, {"eval", "--data", "data.txt"},
          {"train", "--data", "data.txt", "--resume", "--steps", "9"}}) {
      Outcome outcome = call(arguments);
      EXPECT_EQ(outcome.status, 1) << arguments[0];
      EXPECT_NE(outcome.err.find(reason), std::string::npos) << arguments[0] << ": " << outcome.err;
      EXPECT_EQ(outcome.out, "") << arguments[0];
    }
    EXPECT_EQ(read(files[0]) + read(files[1]), before);
  }
}

TEST_F(Program, AKillAtAnyMomentLeavesACompleteCheckpoint) {
  std::vector<std::string> arguments = {"train",        "--data", "data.txt",  "--steps", "1000000",
                                        "--save-every", "1",      "--threads", "1"};
  ASSERT_EQ(call({"train", "--data", "data.txt", "--steps", "1"}).status, 0);
  uint32_t random = 1;
  int64_t lastStep = 0;
  // MEKIK_KILLS asks for more.
  const char *asked = getenv("MEKIK_KILLS");
  const int kills = asked ? atoi(asked) : 40;
  for (int i = 0; i < kills; ++i) {
    std::vector<std::string> current = arguments;
    current.push_back("--resume");
    pid_t child = start(current);
    random = random * 1664525 + 1013904223;
    usleep(2000 + random % 60000);
    kill(child, SIGKILL);
    EXPECT_EQ(finish(child).status, -SIGKILL);
    for (const char *file : {"run/last.safetensors", "run/best.safetensors"}) {
      auto loaded = checkpoint::loadCheckpoint(path(file));
      ASSERT_TRUE(loaded.ok()) << loaded.status().message();
      if (std::string_view(file).find("last") != std::string_view::npos) {
        EXPECT_GE(loaded->info.step, lastStep);
        lastStep = loaded->info.step;
      }
    }
  }
  EXPECT_GT(lastStep, 1); // some of them got to save
  // The next run removes what the killed ones left.
  ASSERT_EQ(call({"train", "--data", "data.txt", "--resume", "--steps", std::to_string(lastStep + 1)}).status, 0);
  EXPECT_EQ(temporaries("run"), std::vector<std::string>());
}

TEST_F(Program, ASignalSavesAndAResumeEndsLikeARunThatWasNotInterrupted) {
  std::vector<std::string> arguments = {"train", "--data",  "data.txt",  "--steps", "100000000",
                                        "--log", "run.log", "--threads", "1"};
  pid_t child = start(arguments);
  for (int i = 0; i < 60000 && !exists("run/last.safetensors"); ++i)
    usleep(1000);
  usleep(5000);
  kill(child, SIGTERM);
  Outcome outcome = finish(child);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("go on with --resume"), std::string::npos) << outcome.err;
  int64_t step = checkpoint::loadCheckpoint(path("run/last.safetensors"))->info.step;
  std::string target = std::to_string(step + 300);
  ASSERT_EQ(call({"train", "--data", "data.txt", "--resume", "--steps", target, "--log", "run.log"}).status, 0);
  ASSERT_EQ(call({"train", "--data", "data.txt", "--steps", target, "--out", "b", "--log", "b.log"}).status, 0);
  EXPECT_TRUE(traces("run") == traces("b"));
}

TEST_F(Program, AFileSizeLimitIsAFailedSaveAndTheOldCheckpointStays) {
  ASSERT_EQ(call({"train", "--data", "data.txt", "--steps", "3"}).status, 0);
  std::string before = read("run/last.safetensors");
  Outcome outcome = call({"train", "--data", "data.txt", "--steps", "9", "--resume"}, [] {
    rlimit limit{200, 200};
    setrlimit(RLIMIT_FSIZE, &limit);
  });
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_EQ(read("run/last.safetensors"), before);
  EXPECT_EQ(temporaries("run"), std::vector<std::string>());
}

TEST_F(Program, AFullDiskIsAFailedSaveAndTheOldCheckpointStays) {
  std::filesystem::create_directory(path("disk"));
  if (mount("none", path("disk").c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "needs the right to mount a small file system";
  Mounted disk{path("disk")};
  Outcome first = call({"train", "--data", "data.txt", "--steps", "3", "--out", "disk/run"});
  EXPECT_EQ(first.status, 0) << first.err;
  std::string before = read("disk/run/last.safetensors");
  fillDisk(path("disk/filler").c_str());
  Outcome outcome = call({"train", "--data", "data.txt", "--steps", "9", "--resume", "--out", "disk/run"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("no space"), std::string::npos) << outcome.err;
  EXPECT_EQ(read("disk/run/last.safetensors"), before);
  EXPECT_EQ(temporaries("disk/run"), std::vector<std::string>());
}

TEST_F(Program, ADiskThatIsFullOrReadOnlyIsToldBeforeTheFirstStep) {
  std::filesystem::create_directory(path("disk"));
  std::vector<std::string> arguments = {"train", "--data", "data.txt", "--steps", "1000000000", "--out", "disk/run"};
  struct {
    std::string message;
    std::function<void()> prepare;
  } disks[] = {
      {"no space left",
       [] {
         mountSmallDisk("disk");
         fillDisk("disk/filler");
       }},
      {"read-only",
       [] {
         mountSmallDisk("disk");
         if (mount("none", "disk", nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0)
           _exit(noMount);
       }},
      // Any user may ask for this one: no file may grow.
      {"larger than the limit",
       [] {
         rlimit none{0, 0};
         setrlimit(RLIMIT_FSIZE, &none);
         signal(SIGXFSZ, SIG_IGN);
         for (int stream : {1, 2}) // what is said must not go to a file
           dup2(open("/dev/null", O_WRONLY), stream);
       }},
  };
  std::string skipped;
  for (const auto &disk : disks) {
    Outcome outcome = call(arguments, [&] {
      alarm(10);
      disk.prepare();
    });
    outcome.err.resize(std::min<size_t>(outcome.err.size(), 1000));
    if (outcome.status == noMount) {
      skipped += " " + disk.message;
      continue;
    }
    EXPECT_EQ(outcome.status, 1) << outcome.err;
    EXPECT_EQ(outcome.err.find("training loss"), std::string::npos) << outcome.err;
    if (disk.message != "larger than the limit")
      EXPECT_NE(outcome.err.find(disk.message), std::string::npos) << outcome.err;
    EXPECT_FALSE(exists("disk/run/last.safetensors"));
  }
  if (!skipped.empty())
    GTEST_SKIP() << "needs the right to mount a small file system; not tried:" << skipped;
}

TEST_F(Program, OutputThatCannotBeWrittenIsAFailure) {
  ASSERT_EQ(call({"train", "--data", "data.txt", "--steps", "2"}).status, 0);
  auto full = [] { dup2(open("/dev/full", O_WRONLY), 1); };
  EXPECT_EQ(call({"sample"}, full).status, 1);
  EXPECT_EQ(call({"info"}, full).status, 1);
  EXPECT_EQ(call({"train", "--data", "data.txt", "--log", "/dev/full", "--out", "b"}).status, 1);
  EXPECT_EQ(call({"train", "--data", "data.txt", "--log", "no/such/folder.log", "--out", "c"}).status, 1);
}

TEST_F(Program, ALogThatCannotBeOpenedLeavesAnEarlierRunAsItWas) {
  ASSERT_EQ(call({"train", "--data", "data.txt", "--steps", "2"}).status, 0);
  std::string best = read("run/best.safetensors"), last = read("run/last.safetensors");
  EXPECT_EQ(call({"train", "--data", "data.txt", "--steps", "2", "--log", "no/such/folder.log"}).status, 1);
  EXPECT_EQ(read("run/best.safetensors"), best);
  EXPECT_EQ(read("run/last.safetensors"), last);
  EXPECT_FALSE(exists("run/best.previous.safetensors"));
}

TEST_F(Program, SamplingWithoutACheckpointSaysWhatToDo) {
  Outcome outcome = call({"sample"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("train first"), std::string::npos) << outcome.err;
  Outcome damaged = call({"sample", "--checkpoint", "data.txt"});
  EXPECT_EQ(damaged.status, 1);
  EXPECT_NE(damaged.err.find("data.txt"), std::string::npos) << damaged.err;
}

} // namespace
} // namespace mekik::test
