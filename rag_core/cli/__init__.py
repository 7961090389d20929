"""The command line, on the same engine as the web pages."""
