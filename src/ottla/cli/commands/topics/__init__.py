"""`ottla topics`: one module for each verb."""
