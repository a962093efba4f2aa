// Calls of links through their base class, and the places of errors in them.
#include <utility>

#include <catena/autograd/debug.h>
#include <catena/kernels/base/error_context.h>
#include <catena/nn/link_hook.h>

namespace nn {

using catena::TypeError;

Link& Link::train(bool mode) {
  for_each_param([](std::string_view, const Variable&) {});  // gives the links below their names
  const std::vector<Link*> all = links();
  // A link without children is a layer, and one with a name belongs to a model: functions beside it keep their mode.
  const bool is_model = name_.empty() && all.size() > 1;
  for (Link* link : all) {
    link->evaluates_ = !mode;
    if (link != this || is_model) link->model_evaluates_ = !mode;
  }
  if (is_model) autograd::internal::set_mode_of_functions(mode);
  return *this;
}

namespace internal {

void check_class(const char* op, const std::type_info& link, const std::type_info& type) {
  catena::check<TypeError>(link == type, op, "the object is of the class ", autograd::internal::class_name(link),
                           ", but the reference is one to its base ", autograd::internal::class_name(type));
}

void throw_not_callable(const char* type, std::size_t num_args) {
  catena::fail<TypeError>("Link.call", "the class ", type, " has no operator() for ", num_args,
                          " variables that returns a Variable; a forward() with other results is called by its name, "
                          "net.forward(x)");
}

static constinit thread_local const CallScope* innermost_call = nullptr;
CallScope::CallScope(const Link& root) noexcept : root_(&root), outer_(std::exchange(innermost_call, this)) {}
CallScope::~CallScope() { innermost_call = outer_; }

// Returns the path of a link from the outermost link that contains it and whose call is in progress; empty for that
// outermost link itself.
std::string path_in_call(const Link& link) {
  std::string path;
  for (const CallScope* scope = innermost_call; scope != nullptr; scope = scope->outer_)
    for (const NamedLink& l : const_cast<Link*>(scope->root_)->namedlinks(true))
      if (l.link == &link) path = l.path;
  return path;
}

void rethrow_at(const Link& link, std::string_view type, const std::string& detail) try {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    catena::rethrow_standard(type);
  } catch (const catena::Error& e) {
    const std::string_view message = e.what();
    if (message.starts_with("/")) throw;
    const std::string path = path_in_call(link);
    std::string where = catena::concat(path, path.empty() ? "" : ": ", type);
    if (!detail.empty() && dynamic_cast<const catena::InvalidType*>(&e) != nullptr) where += ": " + detail + "\n";
    catena::rethrow_from(where);
  }
} catch (const std::bad_alloc&) {  // there is no memory for the place
  catena::rethrow_standard(type);
}

std::string dtype_detail(const Variable& x, const Parameter& W) {
  if (!x || !x.data() || !W.is_initialized() || x.dtype() == W.dtype() || !catena::is_floating(W.dtype())) return {};
  return catena::concat("x is ", x.dtype(), ", W ", W.dtype(), ": x.astype(", W.dtype(), ")");
}

Variable invoke_at(Link& self, const std::type_info& type, const Variables& args,
                   Variable (*apply)(Link& self, const Variables& args)) {
  const CallScope scope(self);
  try {
    LinkCall called(self, args);
    return called(apply(self, args));
  } catch (...) {
    if (path_in_call(self).empty()) throw;  // an error of the whole model needs no path
    rethrow_at(self, autograd::internal::class_name(type));
  }
}

}  // namespace internal

}  // namespace nn
