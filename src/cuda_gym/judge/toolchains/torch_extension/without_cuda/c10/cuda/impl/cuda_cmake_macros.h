// A torch without CUDA lacks this one header, so that nothing for CUDA could even be compiled.

#pragma once

#define C10_CUDA_BUILD_SHARED_LIBS
