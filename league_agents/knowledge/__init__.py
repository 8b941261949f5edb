"""Knowledge that needs no model: books, their passages and opening sentences, and a catalogue of works.

Documents are divided into passages, and passages are stored in an index for search. The catalogue and three lectures
are part of the package.
"""
