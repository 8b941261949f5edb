"""Q21: twenty questions in one batch, then a guess at an opening sentence and an associative word."""
