// The primitives only; pipeline objects are refused before the compiler sees them.
#pragma once
#include "cuda_pipeline_primitives.h"
