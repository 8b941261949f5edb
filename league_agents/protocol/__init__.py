"""Wire formats. Pure: bytes and objects in, typed messages out, and back."""
