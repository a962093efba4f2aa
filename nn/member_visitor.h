// The members of a link: persistent values, the visitor of members, and members that are added at run time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/kernels/base/pointers.h>
#include <catena/nn/parameter.h>

namespace nn {

class Link;
class LinkHook;

// An array that is saved with a link but not optimised (running averages). Value semantics like Parameter.
class CATENA_EXPORT Persistent {
 public:
  Persistent() = default;
  Persistent(const Array& a) : array_(a) {}
  Persistent(const Persistent& o);
  Persistent(Persistent&&) noexcept = default;
  Persistent& operator=(const Persistent& o);
  Persistent& operator=(Persistent&&) noexcept = default;
  Array& array() noexcept { return array_; }
  const Array& array() const noexcept { return array_; }
  operator const Array&() const noexcept { return array_; }
  template <autograd::ForeignArray T> operator T() const { return T(array_); }

 private:
  Array array_;
};

// Visits the members of a link. Persistents are arrays, int64, double, bool or strings.
class CATENA_EXPORT MemberVisitor {
 public:
  virtual ~MemberVisitor();
  virtual void parameter(std::string_view name, Parameter& p);
  virtual void persistent(std::string_view name, Persistent& a);
  virtual void persistent(std::string_view name, bool& v);
  virtual void persistent(std::string_view name, std::int64_t& v);
  virtual void persistent(std::string_view name, double& v);
  virtual void persistent(std::string_view name, std::string& v);
  virtual void link(std::string_view name, Link& child);
  // Visits a child that other members may share; calls link() unless overridden.
  virtual void shared_link(std::string_view name, Link& child);
};

namespace internal {
class AnyLink;
class StateHook;
// The members that add_param, add_persistent and add_link added to one link, in this order. Copies are deep.
class CATENA_EXPORT AddedMembers {
 public:
  struct Member;
  struct List;
  AddedMembers() = default;
  AddedMembers(const AddedMembers& o);
  AddedMembers(AddedMembers&&) noexcept = default;
  AddedMembers& operator=(const AddedMembers& o);  // parameters that exist in both keep their identity
  AddedMembers& operator=(AddedMembers&&) noexcept = default;
  ~AddedMembers() = default;
  void visit(MemberVisitor& v) const;
  Member& add(const Link& to, const std::string& name);
  AnyLink* link_of(std::string_view name) const noexcept;  // null without a link of this name
  void remove(std::string_view name) noexcept;             // has no effect without a member of this name
  // The hooks of the link (link_hook.h); null if there are none.
  const std::vector<std::pair<std::string, catena::Shared<LinkHook>>>* hooks() const noexcept;
  std::vector<std::pair<std::string, catena::Shared<LinkHook>>>& editable_hooks();
  // Its hooks of states.
  std::vector<catena::Shared<StateHook>> state_hooks() const;
  std::vector<catena::Shared<StateHook>>& editable_state_hooks();

 private:
  catena::Owned<List> list_;
};
}  // namespace internal

}  // namespace nn
