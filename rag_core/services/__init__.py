"""What the engine is made of: each module here joins several parts of the product for one purpose."""
