// In front of everything: <cmath> of libstdc++ without the special functions of C++17 (Bessel, Legendre,
// zeta), which bring in a third of all the text that nvcc reads. Whoever needs them is compiled again
// without this header.
#if defined(__has_include)
#if __has_include(<bits/c++config.h>)
#include <bits/c++config.h>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#endif
#endif
