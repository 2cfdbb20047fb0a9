// Source text as a module of stage `graph`, for comparing compiled code with the evaluator.
#ifndef MEKIK_TESTS_OPS_COMPILED_MODELS_H
#define MEKIK_TESTS_OPS_COMPILED_MODELS_H

#include "compiler/driver/Compiler.h"
#include "tests/fuzz/CompareBits.h"
#include <gtest/gtest.h>

namespace mekik::tests {

/// Null, and a failure of the test, if the text is no model.
inline std::unique_ptr<driver::Compiler> elaborated(const std::string &text) {
  std::string messages;
  auto compiler = driver::Compiler::fromSource(syntax::Source("test.mekik", text), {}, messages);
  if (!compiler.ok()) {
    ADD_FAILURE() << messages << compiler.status();
    return nullptr;
  }
  return *std::move(compiler);
}

/// Compiled code on every target, on 1, 2 and 3 threads, with garbage in its work memory, gives the bits of the evaluator.
inline void expectTheEvaluatorsBits(const std::string &text, const fuzz::CompareOptions &options = {}) {
  if (auto compiler = elaborated(text)) {
    absl::Status status = fuzz::compareBits(compiler->module(), options);
    EXPECT_TRUE(status.ok()) << status.message();
  }
}

} // namespace mekik::tests

#endif
