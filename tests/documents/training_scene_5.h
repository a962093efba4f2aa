// The variables that the statements of training_spellings_5.tsv use: those of the third list.
#pragma once

#include <algorithm>

#include "training_scene_3.h"
