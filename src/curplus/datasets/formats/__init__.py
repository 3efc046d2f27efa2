"""Parsers, one file per published format; each takes an open-able file and returns plain arrays or a CSR array."""
