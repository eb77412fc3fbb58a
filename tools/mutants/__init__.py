"""Plants small faults in the code, one at a time, and looks whether a test of the same part fails.

`python -m tools.mutants --part storage/producers --sample 100` is the command; CONTRIBUTING.md says
how to read what it prints. `mutmut` and `cosmic-ray` do the same in general. The first leaves out
properties, module constants and dropped statements and wants a copy of the tree, the second starts
a process and runs all tests for each mutant; neither fits a suite of thousands of tests on two
cores.
"""
