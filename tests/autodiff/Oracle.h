// Reference tensors of the oracle files: given as numbers or by the filling formula
//   r = (31 i^2 + (17 + 101 t) i + 389 t + 7) mod 1009,  value = offset + scale (r - 504) / 512.
#ifndef MEKIK_TESTS_AUTODIFF_ORACLE_H
#define MEKIK_TESTS_AUTODIFF_ORACLE_H

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mekik::tests {

struct Numbers {
  std::vector<int64_t> shape;
  std::vector<double> data;
};

inline int64_t countOf(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

inline Numbers filled(int64_t t, double scale, double offset, std::vector<int64_t> shape) {
  Numbers result{std::move(shape), {}};
  for (int64_t i = 0, n = countOf(result.shape); i < n; ++i) {
    int64_t r = (31 * i * i + (17 + 101 * t) * i + 389 * t + 7) % 1009;
    result.data.push_back(offset + scale * static_cast<double>(r - 504) / 512);
  }
  return result;
}

inline double readNumber(const nlohmann::json &value) {
  if (!value.is_string())
    return value.get<double>();
  double infinity = std::numeric_limits<double>::infinity();
  return value == "inf" ? infinity : value == "-inf" ? -infinity : std::nan("");
}

inline Numbers readNumbers(const nlohmann::json &value) {
  if (value.is_number() || value.is_string())
    return {{}, {readNumber(value)}};
  auto shape = value.at("shape").get<std::vector<int64_t>>();
  if (value.contains("fill")) {
    const auto &fill = value["fill"];
    return filled(fill["t"].get<int64_t>(), fill["scale"].get<double>(), fill["offset"].get<double>(), shape);
  }
  Numbers result{std::move(shape), {}};
  for (const auto &entry : value.at("data"))
    result.data.push_back(readNumber(entry));
  return result;
}

inline nlohmann::json readOracle(const std::string &name) {
  const char *source = std::getenv("MEKIK_SOURCE_DIR");
  std::ifstream file(std::string(source ? source : ".") + "/tests/oracles/" + name + ".json");
  return nlohmann::json::parse(file);
}

} // namespace mekik::tests

#endif
