"""From schema files to Python source: `schema` reads them, `python_source` writes the classes."""
