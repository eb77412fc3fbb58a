"""Values of options: how their text is parsed and checked."""
