"""The league manager's machine."""
