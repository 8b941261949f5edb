"""Where everything is put together: names and files in, wired objects out. The one composition root."""
