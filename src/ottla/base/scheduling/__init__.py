"""The event loop: long work in slices, jobs in threads, tasks with an owner, timers."""
