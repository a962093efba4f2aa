// CATENA_EXPORT: marks the symbols that a shared library of this project exports.
//
// All libraries are built with -fvisibility=hidden and with the same setting of this macro, so one macro serves all of
// them and there is no import variant. Functions and classes that another library or a user calls need it, and so does
// every class that is thrown: an exception is caught across libraries only if its type information is visible.
// Templates and inline functions do not need it.
#pragma once

#include <catena/kernels/base/language.h>

#define CATENA_EXPORT __attribute__((visibility("default")))
