// The version that compiled models carry.
#ifndef MEKIK_DRIVER_VERSION_H
#define MEKIK_DRIVER_VERSION_H

namespace mekik::driver {

inline constexpr const char *kVersion = "0.1.0";

} // namespace mekik::driver

#endif
