"""`ottla groups`: one module for each verb."""
