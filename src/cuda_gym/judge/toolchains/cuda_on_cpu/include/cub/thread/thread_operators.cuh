// cub::Sum, cub::Max and cub::Min.
#pragma once
#include "../../cuda_on_cpu/operators.h"
