#include "scene.h"

pytorch_scene::pytorch_scene()
    : d(nd::cos(a)), v(nd::array({3., 1., 2., 5., 4., 0.5})), i(nd::array({2, 0, 1})), mask(a > 0), xs{1, 2, 3, 4} {}
