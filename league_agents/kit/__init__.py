"""Code that every other package may use: errors, ids, the clock, seeded draws, printable texts, value helpers."""
