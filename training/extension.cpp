#include <catena/training/extension.h>

namespace training {

Extension::~Extension() = default;
void Extension::finalize() {}
void Extension::serialize(nn::Serializer&) {}

}  // namespace training
