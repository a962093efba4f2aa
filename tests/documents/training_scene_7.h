// The statements of training_spellings_7.tsv use the variables of the third list.
#pragma once

#include <algorithm>
#include <fstream>
#include <iostream>

#include "training_scene_3.h"
