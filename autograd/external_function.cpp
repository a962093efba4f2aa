#include <catena/autograd/external_function.h>

#include <catena/autograd/current_device.h>

namespace autograd::internal {
namespace {

using catena::check;

constexpr Device kHost{};

// Makes the host current, so that the callables also allocate their arrays there.
DefaultDeviceScope host_scope(const Arrays& arrays) {
  return {arrays.empty() ? default_backend() : arrays[0].backend(), kHost};
}

class ExternalFunction final : public Function {
 public:
  ExternalFunction(ExternalForward forward, ExternalBackward backward)
      : forward_(std::move(forward)), backward_(std::move(backward)) {}

  Arrays forward(const Arrays& inputs) override {
    const DefaultDeviceScope scope = host_scope(inputs);
    device_ = device_of(inputs);
    outputs_.clear();
    Arrays out;
    for (const Array& y : forward_(on_host(inputs))) {
      check<catena::ValueError>(bool(y), label(), "forward returned a null array");
      outputs_.push_back({y.shape(), y.dtype()});
      out.push_back(to_device(y, device_));
    }
    check<catena::ValueError>(!out.empty(), label(), "forward returned no array");
    return out;
  }

  Arrays backward(const Arrays& inputs, const Arrays& grad_outputs) override {
    const DefaultDeviceScope scope = host_scope(inputs);
    Arrays gy;
    for (std::size_t k = 0; k < grad_outputs.size(); ++k)
      gy.push_back(grad_outputs[k] ? to_device(grad_outputs[k], kHost)
                                   : arrays::full(outputs_[k].shape, 0, outputs_[k].dtype, kHost));
    Arrays gx = backward_(on_host(inputs), gy);
    for (std::size_t i = 0; i < gx.size() && i < inputs.size(); ++i) {
      if (!gx[i]) continue;
      gx[i] = catena::is_floating(inputs[i].dtype()) ? to_device(astype(gx[i], inputs[i].dtype()), inputs[i].device())
                                                     : Array();
    }
    return gx;
  }

 private:
  struct Type {
    Shape shape;
    Dtype dtype;
  };

  static Device device_of(const Arrays& arrays) {
    for (const Array& a : arrays)
      if (a.device() != kHost) return a.device();
    return kHost;
  }
  static Arrays on_host(const Arrays& arrays) {
    Arrays host;
    for (const Array& a : arrays) host.push_back(to_device(a, kHost));
    return host;
  }

  ExternalForward forward_;
  ExternalBackward backward_;
  Device device_;
  catena::SmallVector<Type, 2> outputs_;
};

}  // namespace

Outputs external_function(ExternalForward forward, ExternalBackward backward, const Variables& inputs) {
  return make_function<ExternalFunction>(std::move(forward), std::move(backward))(inputs);
}

}  // namespace autograd::internal
