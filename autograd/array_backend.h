// The interface of array libraries for code above autograd, which calls a backend or asks for its extensions:
// x.backend().extension<autograd::DeviceExtension>(x.device()).
#pragma once

#include <catena/autograd/backend/backend.h>
