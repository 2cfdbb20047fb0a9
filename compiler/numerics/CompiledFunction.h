// A numeric definition compiled and callable: emitted with IrArithmetic, lowered, optimized and run in this process.
// It exists to prove that the compiled form equals NumberArithmetic and to make exhaustive error measurements quick;
// no model is compiled this way.
#ifndef MEKIK_NUMERICS_COMPILEDFUNCTION_H
#define MEKIK_NUMERICS_COMPILEDFUNCTION_H

#include "compiler/numerics/Arithmetic.h"

#include "absl/status/statusor.h"

#include <functional>
#include <memory>
#include <vector>

namespace mekik::numerics {

using Definition = std::function<std::vector<Number>(Arithmetic &, const std::vector<Number> &)>;

class CompiledFunction {
public:
  /// Compiles `definition` for operands of the given types, `lanes` elements at once (0: scalars). The code is for the
  /// machine it runs on and may call nothing; a definition that needs a library function fails here.
  static absl::StatusOr<CompiledFunction> compile(const Definition &definition,
                                                  const std::vector<ElementType> &operands, unsigned lanes);

  CompiledFunction(CompiledFunction &&);
  CompiledFunction &operator=(CompiledFunction &&);
  ~CompiledFunction();

  /// Each pointer addresses max(lanes, 1) elements of the operand's or result's type (a Bool is one byte, 0 or 1),
  /// operands first, then results. Safe to call from several threads.
  void operator()(void *const *buffers) const { entry(buffers); }

private:
  struct Engine;
  CompiledFunction(std::unique_ptr<Engine> engine, void (*entry)(void *const *));

  std::unique_ptr<Engine> engine;
  void (*entry)(void *const *);
};

} // namespace mekik::numerics

#endif
