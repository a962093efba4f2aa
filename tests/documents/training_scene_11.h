// The statements of training_spellings_11.tsv use the variables of the eighth list.
#pragma once

#include "training_scene_8.h"
