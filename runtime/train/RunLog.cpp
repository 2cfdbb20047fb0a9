#include "runtime/train/RunLog.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/base/Concat.h"
#include "runtime/base/File.h"
#include "runtime/base/Json.h"
#include "runtime/base/Parse.h"
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace mekik::train {

using base::concat;
using base::Status;
using base::StatusOr;

RunLog &RunLog::operator=(RunLog &&other) noexcept {
  std::swap(path, other.path);
  std::swap(descriptor, other.descriptor);
  return *this;
}

RunLog::~RunLog() {
  if (descriptor >= 0)
    close(descriptor);
}

StatusOr<RunLog> RunLog::open(const std::string &path, int flags) {
  RunLog log;
  log.path = path;
  log.descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | flags, 0666);
  if (log.descriptor < 0)
    return base::errnoStatus(errno, concat("--log: ", path), "open");
  return log;
}

StatusOr<RunLog> RunLog::begin(const std::string &path) { return open(path, O_TRUNC); }

StatusOr<RunLog> RunLog::resume(const std::string &path, int64_t lastStep) {
  if (base::pathKind(path) != base::PathKind::RegularFile)
    return open(path, 0);
  MEKIK_ASSIGN_OR_RETURN(std::string text, base::readFile(path));
  size_t kept = 0;
  int64_t lineNumber = 0;
  while (kept < text.size()) {
    ++lineNumber;
    size_t end = text.find('\n', kept);
    if (end == std::string::npos)
      break; // a line that a killed process left unfinished
    auto line = base::Json::parse(std::string_view(text).substr(kept, end - kept), path, kept);
    const base::Json *step = line.ok() ? line->find("step") : nullptr;
    if (!step || !step->integer())
      return base::invalidArgumentError(concat("--log: ", path, ":", lineNumber,
                                               ": expected a JSON object with a whole "
                                               "number \"step\"; give the log of this run or another file"));
    if (*step->integer() > lastStep)
      break;
    kept = end + 1;
  }
  if (kept < text.size())
    MEKIK_RETURN_IF_ERROR(base::writeFileAtomically(path, std::string_view(text).substr(0, kept)));
  return open(path, 0);
}

Status RunLog::write(const Evaluation &evaluation, bool best, double seconds) {
  if (descriptor < 0)
    return {};
  std::string line =
      concat("{\"step\":", evaluation.step, ",\"train_loss\":", base::jsonNumber(evaluation.trainLoss),
             ",\"validation_loss\":", evaluation.validationLoss ? base::jsonNumber(*evaluation.validationLoss) : "null",
             ",\"best\":", best ? "true" : "false", ",\"seconds\":", base::formatFixed(seconds, 3), "}\n");
  return base::writeAll(descriptor, line, path);
}

} // namespace mekik::train
