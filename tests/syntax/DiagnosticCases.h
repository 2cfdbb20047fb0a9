// Tests of messages, one model file a case: diagnostics/NAME.mekik is read and everything said about it must equal
// diagnostics/NAME.out, byte for byte. MEKIK_UPDATE_EXPECTED=1 writes the .out files instead; review what changed.
#ifndef MEKIK_TESTS_SYNTAX_DIAGNOSTIC_CASES_H
#define MEKIK_TESTS_SYNTAX_DIAGNOSTIC_CASES_H

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <vector>

namespace mekik::tests {

inline std::filesystem::path sourceFolder() {
  const char *folder = std::getenv("MEKIK_SOURCE_DIR");
  return folder ? folder : ".";
}

inline std::string readFile(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Names of the cases in a folder of the repository, sorted.
inline std::vector<std::string> caseNames(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto &entry : std::filesystem::directory_iterator(sourceFolder() / folder, ignored))
    if (entry.path().extension() == ".mekik")
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

inline std::string testName(const testing::TestParamInfo<std::string> &info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

inline void checkExpected(const std::filesystem::path &expectedFile, const std::string &found) {
  if (std::getenv("MEKIK_UPDATE_EXPECTED")) {
    std::ofstream(expectedFile, std::ios::binary) << found;
    return;
  }
  EXPECT_TRUE(std::filesystem::exists(expectedFile)) << expectedFile;
  EXPECT_EQ(readFile(expectedFile), found);
}

} // namespace mekik::tests

#endif
