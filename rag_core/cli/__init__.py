"""The command line, which uses the same engine as the web pages."""
