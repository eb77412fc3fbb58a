"""The memory of the process: the allocator, the garbage collector, stored exceptions."""
