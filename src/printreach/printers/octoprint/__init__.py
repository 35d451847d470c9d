"""OctoPrint: its push channel and its REST API, as its documents and 1.11.8 have them."""
