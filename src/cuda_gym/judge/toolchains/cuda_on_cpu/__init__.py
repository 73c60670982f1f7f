"""CUDA C++ compiled for the host and really run: rewriting, headers, runtime."""
