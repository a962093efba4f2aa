// CATENA_EXPORT: what a shared library of this project shows to its users.
//
// All libraries are built with -fvisibility=hidden and always with the same setting, so one macro serves them all and
// there is no import side. Put it on functions and classes that another library or a user calls, and on every class
// that is thrown: an exception is caught across libraries only if its type information is visible. Templates and inline
// functions need nothing.
#pragma once

#define CATENA_EXPORT __attribute__((visibility("default")))
