// Looking names up, innermost first.
#include "compiler/frontend/Scope.h"

namespace mekik::frontend {

void Frame::close() {
  for (auto &[name, binding] : scopes.back())
    closedNames.emplace(name, binding.declared);
  scopes.pop_back();
}

Binding *Frame::peek(const std::string &name) {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
    if (auto found = scope->find(name); found != scope->end())
      return &found->second;
  return nullptr;
}

Binding *Frame::find(const std::string &name) {
  Binding *binding = peek(name);
  if (binding)
    usage.used.insert(binding->declared.begin);
  return binding;
}

void Frame::declare(const syntax::Identifier &name, Term term, NameKind kind) {
  usage.declarations.emplace(name.range.begin, Usage::Declaration{name.text, kind, name.range});
  scopes.back().insert_or_assign(name.text, Binding{std::move(term), kind, name.range});
}

std::vector<std::string> Frame::names() const {
  std::vector<std::string> result;
  for (const auto &scope : scopes)
    for (const auto &[name, binding] : scope)
      result.push_back(name);
  return result;
}

const syntax::SourceRange *Frame::ended(const std::string &name) const {
  auto found = closedNames.find(name);
  return found == closedNames.end() ? nullptr : &found->second;
}

} // namespace mekik::frontend
