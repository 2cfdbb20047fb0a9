// Runs passes over a module, one at a time: the way to look at, and to test, a single step of the compiler.
#include "compiler/driver/Dialects.h"
#include "compiler/driver/Passes.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry = mekik::driver::dialects();
  mekik::driver::registerPasses();
  return mlir::failed(mlir::MlirOptMain(argc, argv, "Mekik's single steps\n", registry));
}
