"""A picture of a print in, how likely it shows a failure out."""
