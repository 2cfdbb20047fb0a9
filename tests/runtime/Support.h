// What the tests of the runtime share: files of the source tree, a folder that goes away, bytes from hexadecimal.
#ifndef MEKIK_TESTS_RUNTIME_SUPPORT_H
#define MEKIK_TESTS_RUNTIME_SUPPORT_H

#include "nlohmann/json.hpp"
#include "runtime/base/Status.h"
#include "gtest/gtest.h"
#include <string>
#include <string_view>
#include <vector>

namespace mekik::test {

/// The path of a file of the source tree ("tests/oracles/utf8.json").
std::string sourcePath(std::string_view relative);
nlohmann::json readJson(std::string_view relative);
std::string fromHex(std::string_view hex);
std::string readBytes(const std::string &path);
void writeBytes(const std::string &path, std::string_view bytes);
/// Names in a folder, sorted.
std::vector<std::string> listFolder(const std::string &folder);

/// A new folder, removed with its content at the end of the test.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::string operator/(std::string_view name) const { return path + "/" + std::string(name); }
  std::string path;
};

/// The message of a failed Status holds every one of `parts`.
void expectFailure(const base::Status &status, std::initializer_list<std::string_view> parts);
template <typename T>
void expectFailure(const base::StatusOr<T> &result, std::initializer_list<std::string_view> parts) {
  expectFailure(result.status(), parts);
}

} // namespace mekik::test

#endif
