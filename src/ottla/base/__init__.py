"""Small parts that everyone needs. Imports nothing else of Ottla."""
