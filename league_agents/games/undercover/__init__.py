"""Who is the undercover: everybody has a word, a few have a slightly different one, and nobody is told which he is."""
