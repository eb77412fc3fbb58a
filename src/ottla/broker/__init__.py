"""The broker process: constructs the components, connects and runs them."""
