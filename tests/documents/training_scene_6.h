// The statements of training_spellings_6.tsv use the variables of the third list.
#pragma once

#include <fstream>

#include "training_scene_3.h"
