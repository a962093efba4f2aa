// FunctionSet: the container of models in Chainer before version 1.5. Deprecated: a Chain with members (NN_MEMBERS) or
// with add_link does the same. No umbrella header includes this file.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/nn/link.h>

namespace nn {

// A Chain whose children are set by name and may be replaced. If the set was moved to a device, a new child is moved
// there too, as with add_link; otherwise it stays where it is. The first object in the process gives a warning.
//
//   nn::FunctionSet model({{"l1", nn::Linear(784, 100)}, {"l2", nn::Linear(100, 10)}});
//   model["l3"] = nn::Linear(10, 10);                   // another child, or in place of one
//   Variable y = model["l2"](nn::relu(model["l1"](x)));
class CATENA_EXPORT FunctionSet : public Chain {
 public:
  // A child and its name.
  struct CATENA_EXPORT Part {
    std::string name;
    internal::AnyLink link;
    template <class L, class = std::enable_if_t<std::is_base_of_v<Link, std::decay_t<L>>>>
    Part(std::string child, L&& l) : name(std::move(child)), link(std::forward<L>(l)) {}
    Part(std::string child, internal::AnyLink l) : name(std::move(child)), link(std::move(l)) {}
  };
  // The member with a name: it can be assigned to, used as a Link, or called.
  class CATENA_EXPORT Entry {
   public:
    Entry(FunctionSet& set, std::string_view name) : set_(set), name_(name) {}
    template <class L> std::decay_t<L>& operator=(L&& link) requires std::is_base_of_v<Link, std::decay_t<L>> {
      return static_cast<std::decay_t<L>&>(set_.set(name_, internal::AnyLink(std::forward<L>(link))));
    }
    operator Link&() const { return set_.child(name_); }  // KeyError listing the names
    Variable operator()(const Variables& args) const { return set_.child(name_).call(args); }
    template <class... V>
    Variable operator()(const V&... args) const
        requires(sizeof...(V) > 0 && (... && std::is_convertible_v<const V&, Variable>)) {
      return set_.child(name_).call(Variables{Variable(args)...});
    }

   private:
    FunctionSet& set_;
    std::string name_;
  };

  FunctionSet(std::initializer_list<Part> parts = {});
  Entry operator[](std::string_view name) { return {*this, name}; }

  // Return the arrays of all parameters in the order of params(); null for an array that does not exist yet.
  std::vector<Array> parameters() const;
  std::vector<Array> gradients() const;
  // Makes these the arrays of the parameters. ValueError for another number of arrays; nothing is changed then.
  void set_parameters(const std::vector<Array>& arrays);
  void set_gradients(const std::vector<Array>& arrays);  // a null array: no gradient
  // Returns the set itself, for optimizers.
  FunctionSet& collect_parameters();
  // Copies the elements to the parameters, across devices. ValueError for another number or shape of arrays; nothing is
  // copied then.
  void copy_parameters_from(const std::vector<Array>& arrays);

 protected:
  void visit_declared(MemberVisitor& v) override;

 private:
  Link& set(const std::string& name, internal::AnyLink link);
  Link& child(std::string_view name) const { return Chain::operator[](name); }
  std::vector<Variable> params_for(const char* op, const std::vector<Array>& arrays) const;

  std::vector<Part> parts_;
};

}  // namespace nn
