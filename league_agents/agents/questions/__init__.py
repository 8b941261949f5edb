"""Questions that any careful reader can answer from the text alone, and honest answers to questions of any kind."""
