// Errors as values for the runtime. The shape is Abseil's, which the compiler uses, but not its code: Debian's Abseil
// links C++ streams, locales, time zones and a symbolizer into whatever uses it, a megabyte that no trainer needs.
#ifndef MEKIK_RUNTIME_BASE_STATUS_H
#define MEKIK_RUNTIME_BASE_STATUS_H

#include <cstdlib>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace mekik::base {

enum class StatusCode {
  Ok,
  WrongUsage,         // the command line itself is wrong: exit status 2
  InvalidArgument,    // the user's input is wrong
  NotFound,           // a file, tensor or function that is not there
  PermissionDenied,   //
  ResourceExhausted,  // disk or memory
  FailedPrecondition, // right in itself, but does not belong here: another model, another tokenizer
  OutOfRange,         //
  AlreadyExists,      //
  Unimplemented,      //
  Aborted,            // stopped on purpose before the end
  Internal,           //
  Unknown
};

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message) : kind(code), text(std::move(message)) {}

  bool ok() const { return kind == StatusCode::Ok; }
  StatusCode code() const { return kind; }
  /// For the user, without the code. Empty if ok.
  const std::string &message() const { return text; }
  friend bool operator==(const Status &, const Status &) = default;

private:
  StatusCode kind = StatusCode::Ok;
  std::string text;
};

inline Status okStatus() { return {}; }
inline Status invalidArgumentError(std::string message) { return {StatusCode::InvalidArgument, std::move(message)}; }
inline Status notFoundError(std::string message) { return {StatusCode::NotFound, std::move(message)}; }
inline Status permissionDeniedError(std::string message) { return {StatusCode::PermissionDenied, std::move(message)}; }
inline Status resourceExhaustedError(std::string message) {
  return {StatusCode::ResourceExhausted, std::move(message)};
}
inline Status failedPreconditionError(std::string message) {
  return {StatusCode::FailedPrecondition, std::move(message)};
}
inline Status outOfRangeError(std::string message) { return {StatusCode::OutOfRange, std::move(message)}; }
inline Status abortedError(std::string message) { return {StatusCode::Aborted, std::move(message)}; }
inline Status internalError(std::string message) { return {StatusCode::Internal, std::move(message)}; }
inline Status unknownError(std::string message) { return {StatusCode::Unknown, std::move(message)}; }

/// A value, or the Status that says why there is none. Access to a missing value aborts.
template <typename T> class [[nodiscard]] StatusOr {
public:
  StatusOr(Status failure) : reason(std::move(failure)) {
    if (reason.ok())
      std::abort();
  }
  template <typename U = T,
            std::enable_if_t<std::is_convertible_v<U &&, T> && !std::is_same_v<std::decay_t<U>, StatusOr> &&
                                 !std::is_same_v<std::decay_t<U>, Status>,
                             int> = 0>
  StatusOr(U &&result) : content(std::forward<U>(result)) {}

  bool ok() const { return content.has_value(); }
  const Status &status() const { return reason; }

  T &value() & { return checked(); }
  const T &value() const & { return const_cast<StatusOr *>(this)->checked(); }
  T &&value() && { return std::move(checked()); }
  T &operator*() & { return checked(); }
  const T &operator*() const & { return value(); }
  T &&operator*() && { return std::move(checked()); }
  T *operator->() { return &checked(); }
  const T *operator->() const { return &value(); }

private:
  T &checked() {
    if (!content)
      std::abort();
    return *content;
  }
  Status reason;
  std::optional<T> content;
};

} // namespace mekik::base

/// Returns the Status of `expression` from the enclosing function unless it is ok.
#define MEKIK_RETURN_IF_ERROR(expression)                                                                              \
  do {                                                                                                                 \
    if (::mekik::base::Status mekikStatus = (expression); !mekikStatus.ok())                                           \
      return mekikStatus;                                                                                              \
  } while (false)

/// `MEKIK_ASSIGN_OR_RETURN(auto file, File::open(path));` declares or assigns the value, or returns the error.
#define MEKIK_ASSIGN_OR_RETURN(target, expression)                                                                     \
  MEKIK_ASSIGN_OR_RETURN_AT(target, expression, MEKIK_STATUS_CONCAT(mekikResult, __LINE__))
#define MEKIK_ASSIGN_OR_RETURN_AT(target, expression, result)                                                          \
  auto result = (expression);                                                                                          \
  if (!result.ok())                                                                                                    \
    return result.status();                                                                                            \
  target = std::move(result).value()
#define MEKIK_STATUS_CONCAT(a, b) MEKIK_STATUS_CONCAT_EXPANDED(a, b)
#define MEKIK_STATUS_CONCAT_EXPANDED(a, b) a##b

#endif
