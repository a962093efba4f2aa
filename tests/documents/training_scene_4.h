// The statements of training_spellings_4.tsv use the variables of the third list.
#pragma once

#include "training_scene_3.h"
