"""Read the reference list: its entries and their fields."""
