"""Parsers, one file per published format; each takes a file and returns a CSR array of what the file stores."""
