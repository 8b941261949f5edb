"""Pages of a season that a browser shows: view values first, templates second, files and servers elsewhere."""
