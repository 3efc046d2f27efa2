"""Logs of evaluations: what the harnesses of language models write for each question, and the lists that they take."""
