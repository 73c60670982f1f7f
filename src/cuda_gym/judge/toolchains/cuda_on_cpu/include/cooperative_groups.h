// Cooperative groups within a block: the block itself, tiles of a warp, and coalesced threads.
// Grids and clusters are refused before the compiler sees them.
#pragma once
#include "cuda_runtime.h"
#include "cuda_on_cpu/group_operations.h"
