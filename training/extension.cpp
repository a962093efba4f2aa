#include <catena/training/extension.h>

#include <typeinfo>

#include <catena/autograd/debug.h>
#include <catena/kernels/base/error.h>

namespace training {

Extension::~Extension() = default;
void Extension::initialize(Trainer&) {}
void Extension::before_update(Trainer&) {}
void Extension::operator()(Trainer&) {}
void Extension::on_error(Trainer&, const std::exception&) {}
void Extension::finalize() {}
void Extension::serialize(nn::Serializer&) {}
std::string Extension::default_name() const { return autograd::internal::class_name(typeid(*this)); }

FunctionExtension::FunctionExtension(catena::Function<void(Trainer&)> function, Options options)
    : function_(std::move(function)),
      default_name_(std::move(options.default_name)),
      finalizer_(std::move(options.finalizer)),
      initializer_(std::move(options.initializer)),
      on_error_(std::move(options.on_error)) {
  catena::check<catena::TypeError>(bool(function_), "make_extension", "the function is not callable");
  trigger = std::move(options.trigger);
  priority = options.priority;
  invoke_before_training = options.invoke_before_training;
}

void FunctionExtension::initialize(Trainer& trainer) {
  if (initializer_) initializer_(trainer);
}

void FunctionExtension::on_error(Trainer& trainer, const std::exception& error) {
  if (on_error_) on_error_(trainer, error);
}

void FunctionExtension::finalize() {
  if (finalizer_) finalizer_();
}

}  // namespace training
