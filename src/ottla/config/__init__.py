"""All settings, each declared once with name, type, default, check and documentation."""
