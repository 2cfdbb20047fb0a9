#include "tests/runtime/Support.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace mekik::test {

std::string sourcePath(std::string_view relative) {
  const char *root = std::getenv("MEKIK_SOURCE_DIR");
  return std::string(root ? root : ".") + "/" + std::string(relative);
}

nlohmann::json readJson(std::string_view relative) { return nlohmann::json::parse(readBytes(sourcePath(relative))); }

std::string fromHex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

std::string readBytes(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream.good()) << path;
  return {std::istreambuf_iterator<char>(stream), {}};
}

void writeBytes(const std::string &path, std::string_view bytes) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  ASSERT_TRUE(stream.good()) << path;
}

std::vector<std::string> listFolder(const std::string &folder) {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "mekik-test-XXXXXX").string();
  path = mkdtemp(pattern.data());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

void expectFailure(const base::Status &status, std::initializer_list<std::string_view> parts) {
  EXPECT_FALSE(status.ok());
  for (std::string_view part : parts)
    EXPECT_NE(status.message().find(part), std::string::npos) << "no <" << part << "> in: " << status.message();
}

} // namespace mekik::test
