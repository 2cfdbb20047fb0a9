// One walk over the tree that builds one function of the model. The class is one, its parts are files: Elaborator.cpp
// (the function and its interface), Statements.cpp, Expressions.cpp, TensorOperators.cpp, Einsum.cpp, Calls.cpp
// (arguments, blocks, generic ops), Functions.cpp (the built-in functions), Training.cpp (optimizers and schedules).
#ifndef MEKIK_FRONTEND_ELABORATOR_H
#define MEKIK_FRONTEND_ELABORATOR_H

#include "compiler/frontend/DimensionNames.h"
#include "compiler/frontend/Frontend.h"
#include "compiler/frontend/Scope.h"
#include "compiler/graph/Build.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mekik::frontend {

struct Arguments;
struct Signature;

/// @train draws random numbers and uses the configured batch; @eval is deterministic and has `batch` 1.
enum class Mode { Train, Eval };

/// An argument of the function that is not seed or step.
struct Interface {
  std::string name;
  syntax::SourceRange declared;
  mlir::BlockArgument argument;
  mlir::DictionaryAttr initializer; ///< parameters
  std::optional<int64_t> classes;   ///< inputs and targets: declared, or found from use
  bool classesDeclared = false;
  bool unchecked = false; ///< holds a value that stands for "ignore" and is no class
  std::string block = ""; ///< of a parameter: the block whose body declares it
};

struct NamedResult {
  std::string name;
  syntax::SourceRange declared;
  mlir::Value value;
};

class Elaborator {
public:
  Elaborator(const syntax::Model &model, const Options &options, syntax::Diagnostics &diagnostics,
             mlir::ModuleOp module, Usage &usage, Mode mode);

  /// Builds the function; false after errors. Without a loss in Mode::Train the function is removed again.
  bool run();

  const std::vector<Interface> &parameters() const { return params; }
  bool hasLoss() const { return loss.has_value(); }
  std::string modelName() const { return name.text; }
  std::string configurationJson() const { return configuration; }
  mlir::DictionaryAttr optimizerAttribute() const { return optimizer; }
  /// Warnings about parameters that training cannot change and about inputs nothing uses.
  void warnAboutUnreached();

private:
  using Expr = syntax::Expr;
  using SourceRange = syntax::SourceRange;
  enum class Flow { Next, Returned, Stopped };

  // Messages.
  syntax::Diagnostic &error(SourceRange range, std::string message);
  Term fail(SourceRange range, std::string message);
  mlir::Location location(SourceRange range);
  graph::Build at(SourceRange range) { return graph::Build(builder, location(range)); }
  /// False, after a message, when the model has become too large to go on.
  bool spend(SourceRange range);

  // The function (Elaborator.cpp).
  void createFunction();
  void finishFunction();
  void readFileHeader();
  void configure(const syntax::ConfigStmt &config);
  std::optional<Term> overrideValue(const syntax::ConfigStmt &config, const std::string &text);
  bool checkConfigRange(const syntax::ConfigStmt &config, const Term &value, bool fromOption);
  void checkOverrideNames();
  mlir::Value addArgument(std::vector<Interface> &list, size_t position, Interface entry, mlir::Type type);

  // Statements.cpp
  Flow execute(const syntax::Body &body);
  Flow execute(const syntax::Stmt &statement);
  Flow executeBody(const syntax::Body &body);
  void declareInput(const syntax::InputStmt &input);
  void declareParameter(const syntax::ParamStmt &param);
  mlir::DictionaryAttr initializer(const Expr &expr);
  void bind(const syntax::BindStmt &statement);
  Flow repeat(const syntax::RepeatStmt &statement);
  Flow branch(const syntax::IfStmt &statement);
  void addNamedResult(std::vector<NamedResult> &list, const syntax::BindStmt &statement, std::string name,
                      const Term &term);
  void setLoss(const syntax::ValueStmt &statement);
  /// Counts every name in a part that is not built as used.
  void markUsed(const syntax::Body &body);
  void markUsed(const Expr *expr);
  std::string pathTo(const std::string &name) const;
  /// A path written with `as`, its {names} replaced by what they stand for; nothing after a message.
  std::optional<std::string> writtenPath(const syntax::Identifier &path);

  // Expressions.cpp
  Term eval(const Expr &expr);
  Term evalName(const std::string &name, SourceRange range);
  Term evalList(const syntax::ListExpr &expr);
  Term evalUnary(const syntax::UnaryExpr &expr);
  Term evalBinary(const syntax::BinaryExpr &expr);
  Term evalMember(const syntax::MemberExpr &expr);
  Term evalIndex(const syntax::IndexExpr &expr);
  Term indexTensor(const syntax::IndexExpr &expr, mlir::Value tensor);
  std::optional<int64_t> evalInteger(const Expr &expr, const std::string &what);
  std::optional<std::vector<int64_t>> evalShape(const std::vector<syntax::ExprPtr> &dims, Names &names);

  // TensorOperators.cpp
  Term tensorBinary(const syntax::BinaryExpr &expr, const Term &left, const Term &right);
  /// A value of one number becomes a tensor of `like`'s element type, of shape []; tensors stay. Null after a message.
  mlir::Value toTensor(const Term &term, mlir::Type elementType, SourceRange range);
  /// Two operands made tensors of one element type. Null values after a message.
  std::pair<mlir::Value, mlir::Value> sameElements(const Term &left, const Term &right, SourceRange range,
                                                   const std::string &what);
  /// Broadcasts the values to one shape; false after a message.
  bool broadcastTogether(llvm::MutableArrayRef<mlir::Value> values, SourceRange range, const std::string &what);
  Term matmul(mlir::Value left, mlir::Value right, SourceRange range);
  /// Records the axis names of a new tensor and checks its size.
  Term result(mlir::Value tensor, Names names, SourceRange range);
  bool checkSize(llvm::ArrayRef<int64_t> shape, const Names &names, SourceRange range);
  std::string describe(mlir::Value tensor);
  bool isFloatTensor(mlir::Value tensor);

  // Einsum.cpp
  Term einsum(const std::string &equation, SourceRange equationRange, llvm::ArrayRef<mlir::Value> operands,
              llvm::ArrayRef<SourceRange> operandRanges, SourceRange range);

  // Calls.cpp
  Term evalCall(const syntax::CallExpr &call);
  Term callBlock(const syntax::CallExpr &call, const syntax::BlockStmt &block);
  struct GivenArgument {
    const syntax::Identifier *keyword; ///< null: by position
    Term term;
    SourceRange range;
  };
  using GivenArguments = std::vector<GivenArgument>;
  Term callFunction(const syntax::CallExpr &call, const Signature &signature, GivenArguments given);
  /// Any op whose result has the type of its operands: operands by position, attributes by name.
  Term callOp(const syntax::CallExpr &call, mlir::RegisteredOperationName op, unsigned operandCount,
              GivenArguments given);
  /// floor, ceil, and sqrt, abs, min, max of numbers.
  Term callCompileTime(const syntax::CallExpr &call, const GivenArguments &given);
  Term unknownFunction(const syntax::CallExpr &call);
  std::string callName(const syntax::CallExpr &call, const std::string &block);

  // Functions.cpp: one method a built-in function, and the list of them.
  friend struct Arguments;
  friend const std::vector<Signature> &signatures();
  template <int which> Term callReduction(Arguments &a);
  template <bool largest> Term callExtreme(Arguments &a);
  Term callEinsum(Arguments &a);
  Term callMatmul(Arguments &a);
  Term callReshape(Arguments &a);
  Term callTranspose(Arguments &a);
  Term callConcat(Arguments &a);
  Term callStacked(Arguments &a);
  Term callReverse(Arguments &a);
  Term callConvolution(Arguments &a);
  Term callMaxPool(Arguments &a);
  Term callAveragePool(Arguments &a);
  template <typename Op> Term pool(Arguments &a);
  /// `value`, made by sliding over axes of x, with the names of x's axes where sizes are the same.
  Term slid(Arguments &a, mlir::Value x, mlir::Value value, const std::string &channels);
  /// False after a message.
  bool listedTensors(Arguments &a, std::vector<mlir::Value> &parts);
  Term callBroadcast(Arguments &a);
  Term callFull(Arguments &a);
  Term callPositions(Arguments &a);
  Term callCast(Arguments &a);
  Term callSelect(Arguments &a);
  Term callEmbedding(Arguments &a);
  Term callOneHot(Arguments &a);
  Term callMask(Arguments &a);
  Term callDrop(Arguments &a);
  Term callCrossEntropy(Arguments &a);
  template <int which> Term callPairLoss(Arguments &a);
  /// Checks that `ids` come from inputs or targets whose values lie in [0, classes); false after a message.
  bool requireIds(mlir::Value ids, int64_t classes, const std::string &classesName, SourceRange range,
                  const std::string &what, std::optional<int64_t> ignored = std::nullopt);

  // Training.cpp
  void setOptimizer(const syntax::ValueStmt &statement);
  mlir::DictionaryAttr rateSchedule(const Expr &expr);
  /// Named numbers of an optimizer or schedule; false after a message.
  bool readSettings(const syntax::CallExpr &call, std::vector<std::pair<std::string, std::optional<Term>>> &settings,
                    const std::string &handledElsewhere);

  /// Blocks inside of expressions inside of blocks: bounds the recursion of the walk, whose frames are large.
  static constexpr int maxDepth = 1000;
  struct DepthGuard {
    explicit DepthGuard(int &depth) : depth(depth) { ++depth; }
    ~DepthGuard() { --depth; }
    int &depth;
  };
  /// False, after a message, when the walk has become too deep to go on.
  bool shallow(SourceRange range);

  const syntax::Model &model;
  const Options &options;
  syntax::Diagnostics &diagnostics;
  mlir::ModuleOp module;
  mlir::OpBuilder builder;
  Usage &usage;
  Mode mode;

  syntax::Identifier name;
  std::string configuration = "{}";
  std::vector<std::pair<std::string, Term>> configValues;
  std::map<std::string, const syntax::ConfigStmt *> configStatements;
  std::map<std::string, const syntax::BlockStmt *> blocks;
  mlir::FloatType floatType;
  mlir::DictionaryAttr optimizer;
  std::optional<SourceRange> optimizerPlace;

  mlir::func::FuncOp function;
  std::vector<Interface> params, inputs, targets;
  mlir::BlockArgument seed, step;
  std::optional<NamedResult> loss;
  std::vector<NamedResult> outputs, probes;
  std::map<std::string, SourceRange> parameterPaths;

  /// What numbers the calls of one block body or one round of a repeat.
  struct NamingScope {
    std::map<std::string, int> calls;
    std::map<std::string, SourceRange> labels;
  };
  struct CallPlace {
    std::string block;
    SourceRange range;
  };
  Frame fileFrame;
  Frame *frame = &fileFrame;
  std::vector<std::string> path;
  std::vector<NamingScope> naming;
  std::vector<CallPlace> callStack;
  std::optional<Term> returned;
  DimensionNames dimensions;
  int64_t drops = 0;
  int64_t spent = 0;
  int depth = 0;
  bool stopped = false;
};

} // namespace mekik::frontend

#endif
