"""Find the tables of pages from the positions of words."""
