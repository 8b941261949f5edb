"""Questions that a careful reader can answer from the text alone, and computed answers to questions of any kind."""
