"""Immutable value types that the packages exchange.

A *document* is an uploaded file with one or more versions. A *chunk* is a stored span of a document.
A *passage* is a chunk that a search returns for a question, with its rank and scores. A higher score
is always better, and each score has the name of the stage that computes it.
"""
