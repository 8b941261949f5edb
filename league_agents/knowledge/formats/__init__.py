"""The file formats of books; each module reads one format into an ``Extract``.

The first bytes of a file decide its format (``kinds``). Readers of all formats but plain text and Markdown run in a
separate process (``child``), because they use native code and the files are untrusted.
"""
