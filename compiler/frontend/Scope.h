// Names and what they stand for, from the file level down to the innermost braces.
#ifndef MEKIK_FRONTEND_SCOPE_H
#define MEKIK_FRONTEND_SCOPE_H

#include "compiler/frontend/Term.h"
#include <map>
#include <set>

namespace mekik::frontend {

enum class NameKind : uint8_t { Config, Input, Parameter, Let, Counter, BlockParameter, Probe, Output };

struct Binding {
  Term term;
  NameKind kind;
  syntax::SourceRange declared;
};

/// Declarations that something uses, by where they stand; shared between the two functions of a model, so that a name
/// used in either counts as used.
struct Usage {
  std::set<uint32_t> used;
  struct Declaration {
    std::string name;
    NameKind kind;
    syntax::SourceRange range;
  };
  std::map<uint32_t, Declaration> declarations;
  std::set<std::string> calledBlocks;
};

/// The names visible in the body of one block, or at the file level.
class Frame {
public:
  explicit Frame(Usage &usage) : usage(usage) { open(); }

  void open() { scopes.emplace_back(); }
  void close();
  /// Null if there is none. Looking up is using.
  Binding *find(const std::string &name);
  /// The same without counting as a use.
  Binding *peek(const std::string &name);
  void declare(const syntax::Identifier &name, Term term, NameKind kind);
  std::vector<std::string> names() const;
  /// Where a name of this spelling was declared in braces that are closed by now; null if nowhere.
  const syntax::SourceRange *ended(const std::string &name) const;

private:
  Usage &usage;
  std::vector<std::map<std::string, Binding>> scopes;
  std::map<std::string, syntax::SourceRange> closedNames;
};

} // namespace mekik::frontend

#endif
