"""People's files and environment variables, read into typed values. Opens nothing but those files."""
