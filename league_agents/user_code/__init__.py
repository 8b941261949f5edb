"""Code that is not ours: finding a user's class, calling it, and what comes back."""
