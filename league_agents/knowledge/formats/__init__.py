"""The file formats that books come in; each module knows one and turns a file into the same ``Extract``.

What a file is, its first bytes decide (``kinds``). Readers of PDF, EPUB and HTML run in a process of their own
(``child``), because they stand on native code and the files come from strangers.
"""
