"""Language models behind one interface."""
