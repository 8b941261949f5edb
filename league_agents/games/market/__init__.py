"""Sellers name prices, the lowest one takes all customers: the market game (arena 4.4). Pure."""
