// The statements of training_spellings_5.tsv use the variables of the third list.
#pragma once

#include <algorithm>

#include "training_scene_3.h"
