// Link::to_dtype.
#include <catena/kernels/base/error_context.h>
#include <catena/nn/link.h>

namespace nn {

void Parameter::to_dtype(Dtype dtype) {
  if (!catena::is_floating(is_initialized() ? Variable::dtype() : own_dtype())) return;
  if (is_initialized()) {
    const Array data = autograd::astype(this->data(), dtype), grad = this->grad();
    const Array new_grad = grad ? autograd::astype(grad, dtype) : Array();
    set_grad({});
    set_data(data);
    set_grad(new_grad);
  }
  if (own_dtype() == dtype) return;
  // The values are those of the initializer in its own dtype, rounded.
  set_initializer(Initializer(
      [own = initializer(), from = own_dtype()](const Array& a) {
        const Array values = autograd::arrays::empty(a.shape(), from, a.device());
        init_weight(values, own);
        autograd::assign(a, values);
      },
      dtype));
}

Link& Link::to_dtype(autograd::Dtype dtype) try {
  catena::check<catena::TypeError>(catena::is_floating(dtype), "Link.to_dtype", "the dtype is ", dtype,
                                   "; it must be floating");
  struct Convert final : MemberVisitor {
    autograd::Dtype to;
    explicit Convert(autograd::Dtype t) : to(t) {}
    void parameter(std::string_view, Parameter& p) override { p.to_dtype(to); }
    void persistent(std::string_view, Persistent& a) override {
      if (a.array() && catena::is_floating(a.array().dtype())) a.array() = autograd::astype(a.array(), to);
    }
    void link(std::string_view, Link& child) override { child.visit_members(*this); }
  } convert(dtype);
  visit_members(convert);
  return *this;
} catch (...) {
  catena::rethrow_standard("Link.to_dtype");
}

}  // namespace nn
