"""What a referee asks a model, and what code makes of the replies."""
