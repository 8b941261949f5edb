"""Users' configuration files and environment variables, parsed into typed values. Opens no other files."""
