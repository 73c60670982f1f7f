// The place of this header before CUDA 13.
#pragma once
#include "nvtx3/nvToolsExt.h"
