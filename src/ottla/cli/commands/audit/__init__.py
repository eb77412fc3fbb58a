"""`ottla audit`: verify that every record is in every tier, once and unchanged."""
