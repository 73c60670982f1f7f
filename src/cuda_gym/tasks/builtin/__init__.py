"""The `core` suite, one file a task in KernelBench's format."""
