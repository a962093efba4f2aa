// The entries of a link in files: parameters and persistents under their names, children under theirs.
#include <cstdint>
#include <string>
#include <string_view>

#include <catena/kernels/base/error.h>
#include <catena/nn/link.h>
#include <catena/nn/serializers/serializer.h>

namespace nn {

namespace {

// Checks that a file has int8 weights for a parameter if and only if the parameter is int8.
void check_quantization(const Serializer& s, std::string_view name, const Parameter& p) {
  if (s.is_writer()) return;
  const bool quantized = p.is_initialized() && p.dtype() == Dtype::int8,
             has_scale = s.contains(std::string(name) + "_scale");
  if (quantized == has_scale || !s.contains(name)) return;
  const auto stored = s.stored(name);
  catena::check<catena::ValueError>(
      !stored || (stored->dtype == Dtype::int8) == quantized, "load", "the parameter ", name, " of ", s.path(),
      quantized ? " is int8 and that of the file is not: load before nn::quantize_weights()"
                : " is int8 in the file: call nn::quantize_weights() before the file is loaded");
}

// Saves or loads the link's own entries.
class MembersIO final : public MemberVisitor {
 public:
  MembersIO(Serializer& s, const Link& link) : s_(s), link_(link) {}
  void parameter(std::string_view name, Parameter& p) override {
    check_quantization(s_, name, p);
    s_(name, p);
  }
  void persistent(std::string_view name, Persistent& a) override {
    Array array = a.array();
    s_(name, array);
    if (a.array() || !array) return;
    a.array() = autograd::to_device(array, link_.device());
    s_.on_rollback([&a] { a.array() = {}; });
  }
  void persistent(std::string_view name, bool& v) override { value(name, v); }
  void persistent(std::string_view name, std::int64_t& v) override { value(name, v); }
  void persistent(std::string_view name, double& v) override { value(name, v); }
  void persistent(std::string_view name, std::string& v) override { value(name, v); }

 private:
  template <class T> void value(std::string_view name, T& v) {
    s_.on_rollback([&v, before = v] { v = before; });
    s_(name, v);
  }
  Serializer& s_;
  const Link& link_;
};

// Saves or loads the children. A child that several members share is in the file under each of its paths.
class ChildrenIO final : public MemberVisitor {
 public:
  explicit ChildrenIO(Serializer& s) : s_(s) {}
  void link(std::string_view name, Link& child) override { child.serialize(*s_[name]); }

 private:
  Serializer& s_;
};

}  // namespace

void Link::serialize(Serializer& s) {
  Serializer::Transaction transaction(s);
  MembersIO own(s, *this);
  visit_members(own);
  ChildrenIO children(s);
  visit_members(children);
  transaction.commit();
}

}  // namespace nn
