"""The league: its wire, its three role machines, its season. Pure."""
