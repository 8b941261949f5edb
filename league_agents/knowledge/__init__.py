"""What an agent can know without a model: books, their passages and opening sentences, and a catalogue of works.

Documents become passages, passages an index that is searched; the catalogue and three lectures come with the package.
"""
