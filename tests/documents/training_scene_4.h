// The variables that the statements of training_spellings_4.tsv use: those of the third list.
#pragma once

#include "training_scene_3.h"
