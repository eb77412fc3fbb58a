"""`ottla cluster`: one module for each verb."""
