"""What everything may use: errors, ids, the clock, seeded draws, texts fit to be shown, how values are made."""
