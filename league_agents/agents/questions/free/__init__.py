"""Freely worded questions: tokens, a grammar in pattern families, typed claims, and answers with three values."""
