// The variables that the statements of training_spellings_5.tsv use: those of the third list.
#pragma once

#include <algorithm>

#include "training_scene_3.h"

namespace spellings {

// The checks of this list also compare arrays of any dtype, and variables.
template <class A, class B> bool equal_values(const A& a, const B& b) { return close(values(a), values(b), 1e-5); }
#define close(...) equal_values(__VA_ARGS__)

}  // namespace spellings
