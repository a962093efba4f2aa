#include <catena/training/extension.h>

#include <typeinfo>

#include <catena/autograd/debug.h>
#include <catena/kernels/base/error.h>

namespace training {

Extension::~Extension() = default;
void Extension::initialize(Trainer&) {}
void Extension::operator()(Trainer&) {}
void Extension::finalize() {}
void Extension::serialize(nn::Serializer&) {}
std::string Extension::default_name() const { return autograd::internal::class_name(typeid(*this)); }

FunctionExtension::FunctionExtension(catena::Function<void(Trainer&)> function, Options options)
    : function_(std::move(function)),
      default_name_(std::move(options.default_name)),
      finalizer_(std::move(options.finalizer)) {
  catena::check<catena::TypeError>(bool(function_), "make_extension", "the function is not callable");
  trigger = std::move(options.trigger);
  priority = options.priority;
  invoke_before_training = options.invoke_before_training;
}

void FunctionExtension::finalize() {
  if (finalizer_) finalizer_();
}

}  // namespace training
