"""The log directories of a broker and all the logs in them."""
