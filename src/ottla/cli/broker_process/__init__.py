"""The process of `ottla up`: its event loop and limits, and why it did not start."""
