#include <catena/nn/sequential.h>

#include <algorithm>
#include <typeinfo>

#include <catena/autograd/debug.h>
#include <catena/nn/link_hook.h>

namespace nn {

using catena::check;
using catena::ValueError;

namespace internal {
namespace {

class FunctionLink : public Link {
 public:
  explicit FunctionLink(autograd::UnaryFunction function) : function_(std::move(function)) {}
  Variable call(const Variables& args) override {
    check<catena::TypeError>(args.size() == 1, "Link.call", "the function takes 1 variable, not ", args.size());
    LinkCall called(*this, args);
    return called(function_(args[0]));
  }
  // The function with the hooks of the link, in the mode of the caller: a LinkCall would have the mode of the link.
  Variable in_mode_of_caller(const Variable& x) {
    const NamedLinkHooks* const own = hooks_of(*this);
    if (own == nullptr) return function_(x);
    const NamedLinkHooks hooks = *own;  // a hook may remove itself
    std::size_t begun = 0;              // the hooks whose preprocess has returned and whose postprocess has not
    try {
      for (; begun < hooks.size(); ++begun) hooks[begun].second->forward_preprocess(*this, {x});
      const Variable y = function_(x);
      for (; begun > 0; --begun) hooks[begun - 1].second->forward_postprocess(*this, {x}, {y});
      return y;
    } catch (...) {
      while (begun > 0) hooks[--begun].second->failed(*this);
      throw;
    }
  }

 private:
  autograd::UnaryFunction function_;
};

}  // namespace

AnyLink function_link(autograd::UnaryFunction function) { return AnyLink(FunctionLink(std::move(function))); }

SequenceElement::SequenceElement(const SequenceElement& o) : link(o.link), name(o.name), is_link_(o.is_link_) {
  refer_handles();
}

SequenceElement::SequenceElement(SequenceElement&& o) noexcept { take(std::move(o)); }

void SequenceElement::take(SequenceElement&& o) noexcept {
  link = std::exchange(o.link, {});
  is_link_ = std::exchange(o.is_link_, false);
  name = std::move(o.name);
  refer_as(o);
}

SequenceElement& SequenceElement::operator=(SequenceElement o) {
  if (owner_ != nullptr) owner_->replace(*this, std::move(o));
  else take(std::move(o));
  return *this;
}

Link& SequenceElement::layer() const {
  check<ValueError>(link.has_value(), "Sequential", "the element is empty");
  return link->get();
}

Variable SequenceElement::call_function(const Variable& x) const {
  return static_cast<FunctionLink&>(layer()).in_mode_of_caller(x);
}

SequenceElement& SequenceElement::operator[](std::int64_t index) const {
  auto* const sequence = dynamic_cast<Sequential*>(&as_link());
  check<catena::TypeError>(sequence != nullptr, "Sequential", "the element has no elements: it is no Sequential");
  return (*sequence)[index];
}

}  // namespace internal

Link& internal::SequenceElement::as_link() const {
  check<catena::TypeError>(is_link(), "Sequential", "the element is a function, not a link");
  return link->get();
}

Variable internal::SequenceElement::operator()(const Variable& x) const {
  return is_link_ ? link->get().call({x}) : call_function(x);
}

namespace {

std::string key_of(const Sequential::Element& e, std::size_t position) {
  return e.name.empty() ? std::to_string(position) : e.name;
}

bool is_of_class(const Sequential::Element& e, std::string_view type) {
  if (!e.is_link()) return false;
  const Link& link = e.link->get();
  return autograd::internal::class_name(typeid(link)) == type;
}

}  // namespace

void Sequential::add_module(std::string name, Element element) {
  check<catena::AttributeError>(!name.empty() && name.find('/') == name.npos, "Sequential.add_module", "the name \"",
                                name, "\" is empty or has a slash");
  for (const Element& e : elements_)
    check<catena::AttributeError>(e.name != name, "Sequential.add_module", "the name ", name, " is in use");
  // The name of a link without one is its position.
  check<catena::AttributeError>(name.find_first_not_of("0123456789") != name.npos, "Sequential.add_module", "the name ",
                                name, " is a number, which is the name of a link without one: append() adds one");
  element.name = std::move(name);
  append(std::move(element));
}

std::size_t Sequential::position(const char* op, std::int64_t index) const {
  const auto n = static_cast<std::int64_t>(elements_.size());
  check<catena::IndexError>(index >= -n && index < n, op, "the index ", index, " is out of range for ", n, " elements");
  return static_cast<std::size_t>(index < 0 ? index + n : index);
}

void Sequential::name_links() const {
  for (std::size_t i = 0; i < elements_.size(); ++i)
    if (const Element& e = elements_[i]; e.is_link()) set_name(e.link->get(), key_of(e, i));
}

Sequential::Sequential(const Sequential& o) : Link(o), elements_(o.elements_) { set_owner(this); }
Sequential::Sequential(Sequential&& o) noexcept : Link(std::move(o)), elements_(std::move(o.elements_)) {
  set_owner(this);
}
Sequential& Sequential::operator=(const Sequential& o) {
  Link::operator=(static_cast<const Link&>(o));
  elements_ = std::vector<Element>(o.elements_);
  set_owner(this);
  return *this;
}
Sequential& Sequential::operator=(Sequential&& o) noexcept {
  Link::operator=(static_cast<Link&&>(o));
  elements_ = std::move(o.elements_);
  set_owner(this);
  return *this;
}

void Sequential::set_owner(Sequential* owner) noexcept {
  for (Element& e : elements_) e.owner_ = owner;
}

Sequential::Element& Sequential::operator[](std::int64_t index) {
  Element& e = elements_[position("Sequential", index)];
  e.refer_handles();  // a parameter may have been assigned
  return e;
}

std::vector<Sequential::Element>::iterator Sequential::begin() {
  for (Element& e : elements_) e.refer_handles();
  return elements_.begin();
}

void Sequential::replace(Element& place, Element element) {
  check<ValueError>(element.link.has_value(), "Sequential", "there is no link and no function to assign");
  element.name = place.name;
  if (element.is_link()) adopt(element.link->get(), {});
  place.take(std::move(element));
  name_links();
}

Sequential Sequential::slice(std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                             std::int64_t step) const {
  check<ValueError>(step >= 1, "Sequential.slice", "the step is ", step, " and must be at least 1");
  const auto n = static_cast<std::int64_t>(elements_.size());
  const auto bound = [n](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + n : i, 0, n); };
  Sequential part;
  for (std::int64_t i = bound(start.value_or(0)); i < bound(stop.value_or(n)); i += step) {
    const Element& e = elements_[static_cast<std::size_t>(i)];
    part.append(e);
    if (e.is_link()) apply_copy_mode(part.elements_.back().link->get(), e.link->get(), CopyMode::share);
  }
  return part;
}

void Sequential::insert(std::int64_t index, Element element) {
  const auto n = static_cast<std::int64_t>(elements_.size());
  check<ValueError>(element.link.has_value(), "Sequential.insert", "there is no link and no function to insert");
  const std::size_t at = index == n ? elements_.size() : position("Sequential.insert", index);
  // A copy of a named element, such as repeat() and extend() make, gets its position as its name.
  for (const Element& e : elements_)
    if (e.name == element.name) element.name.clear();
  if (element.is_link()) adopt(element.link->get(), {});
  set_owner(nullptr);
  elements_.insert(elements_.begin() + static_cast<std::ptrdiff_t>(at), std::move(element));
  set_owner(this);
  name_links();
}

void Sequential::extend(const Sequential& more) {
  const std::vector<Element> copies = more.elements_;  // `more` may be this sequence
  for (const Element& e : copies) append(e);
}

Sequential::Element Sequential::pop(std::int64_t index) {
  const auto at = elements_.begin() + static_cast<std::ptrdiff_t>(position("Sequential.pop", index));
  Element taken = std::move(*at);
  set_owner(nullptr);
  elements_.erase(at);
  set_owner(this);
  if (taken.is_link()) set_name(taken.link->get(), {});
  name_links();
  return taken;
}

void Sequential::remove(std::int64_t index) {
  const auto at = elements_.begin() + static_cast<std::ptrdiff_t>(position("Sequential.remove", index));
  set_owner(nullptr);
  elements_.erase(at);
  set_owner(this);
  name_links();
}

std::int64_t Sequential::count_by_layer_type(std::string_view type) const {
  std::int64_t count = 0;
  for (const Element& e : elements_) count += is_of_class(e, type) ? 1 : 0;
  return count;
}

void Sequential::remove_by_layer_type(std::string_view type) {
  set_owner(nullptr);
  std::erase_if(elements_, [&](const Element& e) { return is_of_class(e, type); });
  set_owner(this);
  name_links();
}

Sequential Sequential::flatten() const {
  Sequential result;
  for (const Element& e : elements_) {
    const auto* const inner = e.as<const Sequential>();
    if (inner != nullptr) result.extend(inner->flatten());
    else result.append(e);
  }
  return result;
}

CopyModeName::CopyModeName(const char* name) {
  const std::string_view text = name;
  check<ValueError>(text == "share" || text == "copy" || text == "init", "copy", "the mode \"", text,
                    "\" is none of \"share\", \"copy\" and \"init\"");
  mode_ = text == "share" ? CopyMode::share : text == "copy" ? CopyMode::copy : CopyMode::init;
}

Sequential Sequential::repeat(int n, CopyModeName how) const {
  const CopyMode mode = how;
  check<ValueError>(n >= 0, "Sequential.repeat", "cannot repeat ", n, " times");
  Sequential result;
  for (int i = 0; i < n; ++i) {
    const Sequential one = nn::copy(*this, mode == CopyMode::init && i == 0 ? CopyMode::copy : mode);
    for (const Element& e : one.elements_) {
      result.append(e);
      if (mode == CopyMode::share && e.is_link())
        apply_copy_mode(result.elements_.back().link->get(), e.link->get(), mode);
    }
  }
  result.name_links();
  return result;
}

Sequential repeat(const Sequential& links, int n, CopyModeName mode) { return links.repeat(n, mode); }

void Sequential::visit_declared(MemberVisitor& v) {
  for (std::size_t i = 0; i < elements_.size(); ++i)
    if (const Element& e = elements_[i]; e.is_link()) v.link(key_of(e, i), e.link->get());
}

Variable Sequential::call(const Variables& args) {
  check<ValueError>(!elements_.empty(), "Sequential", "there is nothing to call");
  const internal::CallScope scope(*this);
  LinkCall called(*this, args);
  Variables values = args;
  for (const Element& e : elements_) {
    if (e.is_link()) {
      values = {e.link->get().call(values)};
    } else {
      check<catena::TypeError>(values.size() == 1, "Sequential", "its first function was given ", values.size(),
                               " arguments");
      values = {e(values[0])};
    }
  }
  return called(values[0]);
}

}  // namespace nn
