// Reading, and replacing files as a whole: what happens when the disk is full, the path is wrong, the writer is killed.
#include "runtime/base/File.h"
#include "runtime/base/AtomicFile.h"
#include "tests/runtime/Support.h"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mekik::test {
namespace {

bool isRoot() { return ::geteuid() == 0; }

TEST(File, SaysWhatIsWrongWithAPath) {
  TemporaryFolder folder;
  writeBytes(folder / "empty", "");
  expectFailure(base::readFile(folder / "missing"), {folder / "missing", "no such file"});
  expectFailure(base::readFile(folder.path), {folder.path, "expected a file, found a folder"});
  expectFailure(base::readFile("/dev/null"), {"/dev/null", "found a device or pipe"});
  expectFailure(base::readFile(""), {"empty path"});
  expectFailure(base::readFile(folder / "empty/below"), {"a part of the path is a file"});
  expectFailure(base::readFile(folder / std::string(5000, 'x')), {"too long"});
  expectFailure(base::readFile(std::string("/etc/passwd\0x", 13)), {"zero byte"});
  EXPECT_EQ(base::readFile(folder / "empty").value(), "");
  ::mkfifo((folder / "pipe").c_str(), 0600);
  expectFailure(base::readFile(folder / "pipe"), {"found a device or pipe"});
  if (!isRoot()) {
    writeBytes(folder / "secret", "x");
    ::chmod((folder / "secret").c_str(), 0);
    expectFailure(base::readFile(folder / "secret"), {"no permission"});
  }
}

TEST(File, ReadsPathsWithSpacesAndLettersOfAnyAlphabet) {
  TemporaryFolder folder;
  std::string path = folder / "ağaç 🙂.txt";
  ASSERT_TRUE(base::writeFileAtomically(path, std::string("a\0b", 3)).ok());
  EXPECT_EQ(base::readFile(path).value(), std::string("a\0b", 3));
}

TEST(File, ReadsNearTheEndOfAFileLongerThanTwoGibibytes) {
  TemporaryFolder folder;
  std::string path = folder / "long";
  const uint64_t length = (1ull << 31) + 100;
  writeBytes(path, "");
  ASSERT_EQ(::truncate(path.c_str(), static_cast<off_t>(length)), 0);
  int descriptor = ::open(path.c_str(), O_WRONLY);
  ASSERT_EQ(::pwrite(descriptor, "the end", 7, static_cast<off_t>(length - 7)), 7);
  ::close(descriptor);
  base::StatusOr<base::File> file = base::File::open(path);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->size(), length);
  char bytes[7];
  ASSERT_TRUE(file->readAt(length - 7, bytes, 7).ok());
  EXPECT_EQ(std::string_view(bytes, 7), "the end");
  expectFailure(file->readAt(length - 6, bytes, 7), {path, "the file ends after 6"});
}

TEST(File, MakesFoldersWithTheirParents) {
  TemporaryFolder folder;
  EXPECT_TRUE(base::makeFolder(folder / "a/b/c/").ok());
  EXPECT_TRUE(base::makeFolder(folder / "a/b").ok());
  EXPECT_EQ(base::pathKind(folder / "a/b/c"), base::PathKind::Directory);
  writeBytes(folder / "file", "");
  expectFailure(base::makeFolder(folder / "file"), {"expected a folder, found a file"});
  expectFailure(base::makeFolder(folder / "file/x"), {folder / "file/x"});
  expectFailure(base::makeFolder("/proc/mekik"), {"/proc/mekik"});
  EXPECT_EQ(base::folderOf("a"), ".");
  EXPECT_EQ(base::folderOf("/a"), "/");
  EXPECT_EQ(base::folderOf("a/b/c"), "a/b");
}

TEST(AtomicFile, ReplacesTheContentAndLeavesNothingElseBehind) {
  TemporaryFolder folder;
  ASSERT_TRUE(base::writeFileAtomically(folder / "f", "old").ok());
  ::chmod((folder / "f").c_str(), 0640);
  ASSERT_TRUE(base::writeFileAtomically(folder / "f", std::string(300000, 'n')).ok());
  EXPECT_EQ(readBytes(folder / "f"), std::string(300000, 'n'));
  EXPECT_EQ(listFolder(folder.path), std::vector<std::string>{"f"});
  struct stat status;
  ::stat((folder / "f").c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST(AtomicFile, KeepsTheOldContentUntilTheNewIsCommitted) {
  TemporaryFolder folder;
  ASSERT_TRUE(base::writeFileAtomically(folder / "f", "old").ok());
  {
    base::StatusOr<base::AtomicFile> file = base::AtomicFile::create(folder / "f");
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write("new").ok());
    EXPECT_EQ(readBytes(folder / "f"), "old");
  }
  EXPECT_EQ(readBytes(folder / "f"), "old");
  EXPECT_EQ(listFolder(folder.path), std::vector<std::string>{"f"});
}

TEST(AtomicFile, ReplacesTheFileASymbolicLinkNames) {
  TemporaryFolder folder;
  base::makeFolder(folder / "real").ok();
  writeBytes(folder / "real/f", "old");
  std::filesystem::create_symlink(folder / "real/f", folder / "link");
  ASSERT_TRUE(base::writeFileAtomically(folder / "link", "new").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(readBytes(folder / "real/f"), "new");
}

TEST(AtomicFile, RefusesTargetsThatAreNoFiles) {
  TemporaryFolder folder;
  expectFailure(base::writeFileAtomically(folder.path, "x"), {folder.path, "found a folder"});
  expectFailure(base::writeFileAtomically(folder / "new/", "x"), {"found a folder"});
  expectFailure(base::writeFileAtomically("/dev/full", "x"), {"/dev/full", "found a device"});
  expectFailure(base::writeFileAtomically(folder / "missing/f", "x"), {folder / "missing/f", "no such file or folder"});
  expectFailure(base::writeFileAtomically("", "x"), {"empty path"});
  expectFailure(base::writeFileAtomically(folder / std::string(4090, 'x'), "x"), {"too long"});
  EXPECT_TRUE(base::writeFileAtomically(folder / std::string(255, 'y'), "x").ok());
  EXPECT_EQ(readBytes(folder / std::string(255, 'y')), "x");
}

TEST(AtomicFile, KeepsTheOldFileWhenTheSizeLimitIsReached) {
  TemporaryFolder folder;
  ASSERT_TRUE(base::writeFileAtomically(folder / "f", "old").ok());
  pid_t child = ::fork();
  if (child == 0) {
    struct rlimit limit = {100000, 100000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    base::Status status = base::writeFileAtomically(folder / "f", std::string(200000, 'n'));
    bool right = status.code() == base::StatusCode::ResourceExhausted &&
                 status.message().find("larger than the limit") != std::string::npos;
    ::_exit(right ? 0 : 1);
  }
  int result = 0;
  ::waitpid(child, &result, 0);
  EXPECT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0) << result;
  EXPECT_EQ(readBytes(folder / "f"), "old");
  EXPECT_EQ(listFolder(folder.path), std::vector<std::string>{"f"});
}

TEST(AtomicFile, KeepsTheOldFileWhenTheDiskIsFull) {
  TemporaryFolder folder;
  constexpr int noMount = 77;
  pid_t child = ::fork();
  if (child == 0) {
    // A disk of 64 KiB that only this process sees.
    if ((::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", folder.path.c_str(), "tmpfs", 0, "size=64k") != 0)
      ::_exit(noMount);
    const std::string old(30000, 'o');
    if (!base::writeFileAtomically(folder / "f", old).ok())
      ::_exit(1);
    for (size_t size : {40000u, 100000u, 3000000u}) {
      base::Status status = base::writeFileAtomically(folder / "f", std::string(size, 'n'));
      if (status.code() != base::StatusCode::ResourceExhausted ||
          status.message() != (folder / "f") + ": cannot write: no space left on the device")
        ::_exit(2);
      if (readBytes(folder / "f") != old || listFolder(folder.path) != std::vector<std::string>{"f"})
        ::_exit(3);
    }
    writeBytes(folder / "g", std::string(32768, 'g')); // now nothing is left
    ::_exit(base::checkFolderWritable(folder.path).ok() ? 4 : 0);
  }
  int result = 0;
  ::waitpid(child, &result, 0);
  ASSERT_TRUE(WIFEXITED(result)) << result;
  if (WEXITSTATUS(result) == noMount)
    GTEST_SKIP() << "a small disk cannot be mounted here";
  EXPECT_EQ(WEXITSTATUS(result), 0);
}

TEST(AtomicFile, IsWholeAfterAKillAtAnyMoment) {
  TemporaryFolder folder;
  const std::string first(150000, 'a'), second(150000, 'b');
  ASSERT_TRUE(base::writeFileAtomically(folder / "f", first).ok());
  for (int round = 0; round < 200; ++round) {
    pid_t child = ::fork();
    if (child == 0) {
      for (int i = 0;; ++i)
        if (!base::writeFileAtomically(folder / "f", i % 2 ? first : second).ok())
          ::_exit(1);
    }
    ::usleep(static_cast<useconds_t>(200 + round * 37 % 2500));
    ::kill(child, SIGKILL);
    int result = 0;
    ::waitpid(child, &result, 0);
    ASSERT_TRUE(WIFSIGNALED(result)) << "the writer failed";
    std::string content = readBytes(folder / "f");
    ASSERT_TRUE(content == first || content == second) << content.size();
  }
  // What the killed writers left is gone after the next good write.
  ASSERT_TRUE(base::writeFileAtomically(folder / "f", first).ok());
  EXPECT_EQ(listFolder(folder.path), std::vector<std::string>{"f"});
}

TEST(AtomicFile, LeavesTheTemporaryOfALivingWriterAlone) {
  TemporaryFolder folder;
  base::StatusOr<base::AtomicFile> living = base::AtomicFile::create(folder / "f");
  ASSERT_TRUE(living.ok());
  ASSERT_TRUE(living->write("living").ok());
  writeBytes(folder / "f.tmp-1-1", "dead");
  writeBytes(folder / "f.tmp-notes", "the user's");
  base::removeStaleTemporaries(folder / "f");
  EXPECT_EQ(listFolder(folder.path).size(), 2u);
  ASSERT_TRUE(living->commit().ok());
  EXPECT_EQ(listFolder(folder.path), (std::vector<std::string>{"f", "f.tmp-notes"}));
  EXPECT_EQ(readBytes(folder / "f"), "living");
}

TEST(AtomicFile, TellsBeforehandWhetherAFolderCanBeWritten) {
  TemporaryFolder folder;
  EXPECT_TRUE(base::checkFolderWritable(folder.path).ok());
  EXPECT_TRUE(base::checkFolderWritable(folder.path + "/").ok());
  EXPECT_TRUE(listFolder(folder.path).empty());
  writeBytes(folder / "file", "");
  expectFailure(base::checkFolderWritable(folder / "missing"), {folder / "missing", "found nothing there"});
  expectFailure(base::checkFolderWritable(folder / "file"), {"found a file"});
  expectFailure(base::checkFolderWritable("/proc"), {"/proc: cannot write to this folder"});
}

} // namespace
} // namespace mekik::test
