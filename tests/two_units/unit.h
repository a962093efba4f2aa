// The arguments from which both units make Variables, in every way that users write.
#pragma once

#include <string>

#include <catena/catena.h>

// Two units instantiate the same constructors; each returns the flags of its Variables as a text.
inline std::string flag_of(const autograd::Variable& v) {
  return v.volatile_flag() == autograd::AUTO ? "AUTO " : v.volatile_flag() == autograd::ON ? "ON " : "OFF ";
}
std::string direct();    // unit_direct.cpp: Variable x(a)
std::string implicit();  // unit_implicit.cpp: Variable x = a, and arrays as arguments
